import { globSync, readFileSync } from "node:fs";
import ts from "typescript";
import { expect, test } from "vitest";

const isArrow = ({ initializer }: ts.VariableDeclaration) =>
  initializer !== undefined && ts.isArrowFunction(initializer);

const isFunction = (node: ts.Node) =>
  ts.isFunctionDeclaration(node) ||
  ts.isMethodDeclaration(node) ||
  ts.isMethodSignature(node) ||
  (ts.isVariableStatement(node) && node.declarationList.declarations.some(isArrow));

/** The doc comments of functions and methods. */
function docComments(text: string): string[] {
  const tree = ts.createSourceFile("any.ts", text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const { pos = 0, end = 0 } =
      ts.getLeadingCommentRanges(text, node.getFullStart())?.at(-1) ?? {};
    const comment = text.slice(pos, end);
    if (isFunction(node) && comment.startsWith("/**")) found.push(comment);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

const beginsWithVerb = (comment: string) => /^\/\*\*[\s*]*[A-Z][a-z]+s[\s,.:]/.test(comment);

test("the doc comment of each function and method begins with a verb", () => {
  const comments = globSync("src/**/*.ts").flatMap((file) =>
    docComments(readFileSync(file, "utf8")).map((comment) => ({ file, comment })),
  );
  expect(comments.length).toBeGreaterThan(1_000);
  expect(comments.filter(({ comment }) => !beginsWithVerb(comment))).toEqual([]);
});

test("another beginning is noticed", () => {
  const text =
    "/** Whether it is. */\nconst is = () => true;\nclass A {\n  /** Returns it. */\n  a() {}\n}";
  expect(docComments(text).map(beginsWithVerb)).toEqual([false, true]);
});
