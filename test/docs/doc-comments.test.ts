import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
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

const SOURCES = globSync("src/**/*.ts");
const NAMES = new Set(SOURCES.map((file) => basename(file)));

/** The names of files in the comments of a file. A comment that names a repository (`owner/name`) may quote its files. */
function filesInComments(text: string): string[] {
  const comments = text.match(/(?:^ *\/\/.*\n)+|\/\*[\s\S]*?\*\//gm) ?? [];
  return comments
    .filter((comment) => !/(?<![`/\w])[\w-]+\/[\w.-]+(?![`/\w])/.test(comment))
    .flatMap((comment) => [...comment.matchAll(/`([\w*./-]+\.(?:ts|md|json))`/g)])
    .map(([, file = ""]) => file);
}

/** Whether a comment of `from` finds the file: from the root, from `src`, or by its name alone. */
const isThere = (file: string, from: string) =>
  ["", "src", "src/shared", dirname(from)].some((folder) => existsSync(join(folder, file))) ||
  NAMES.has(file);

test("the files that comments name exist", () => {
  const named = SOURCES.flatMap((from) =>
    filesInComments(readFileSync(from, "utf8")).map((file) => ({ from, file })),
  );
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter(({ from, file }) => !isThere(file, from))).toEqual([]);
});

test("a file that is not there is noticed, but not one of another project", () => {
  const comment = "// See `http/*access.ts`.\nconst a = 1;\n// `deleteRecord.ts` of owner/name.\n";
  expect(filesInComments(comment)).toEqual(["http/*access.ts"]);
  expect(isThere("http/*access.ts", "src/shared/callers/scope.ts")).toBe(false);
});
