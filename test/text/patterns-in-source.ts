import { globSync, readFileSync } from "node:fs";
import ts from "typescript";

/** A regular expression of the product, or a use of the runtime that looks at a text as a whole. */
export interface Found {
  /** Where it stands and how it begins: enough to find it, and to notice that it was changed. */
  readonly place: string;
  /** Undefined where it can't be worked out from constants. */
  readonly pattern?: { readonly source: string; readonly flags: string };
}

const BEGINNING = 24;
/** Methods that make a regular expression of whatever they are given. */
const IMPLICIT: ReadonlySet<string> = new Set(["match", "matchAll", "search"]);

/** Everything of that kind in `src`, read by a parser. */
export function patternsInSource(): readonly Found[] {
  const files = globSync("src/**/*.ts").toSorted();
  return files.flatMap((file) => patternsIn(file, readFileSync(file, "utf8")));
}

export function patternsIn(file: string, text: string): readonly Found[] {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const constants = constantsOf(tree);
  const found: Found[] = [];
  const place = (beginning: string): string =>
    `${file.replace(/^src\/(?:shared\/)?/, "")}: ${beginning.slice(0, BEGINNING)}`;
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const { source, flags } = partsOf(node);
      found.push({ place: place(source), pattern: { source, flags } });
    }
    const made = madeBy(node);
    if (made !== undefined) {
      const source = made.source && valueOf(made.source, constants);
      const flags = made.flags === undefined ? "" : valueOf(made.flags, constants);
      const isKnown = source !== undefined && flags !== undefined;
      found.push({
        place: place(source ?? node.getText()),
        ...(isKnown ? { pattern: { source, flags } } : {}),
      });
    }
    if (ts.isPropertyAccessExpression(node) && isOfRuntime(node))
      found.push({
        place: place(node.name.text === "normalize" ? ".normalize" : node.getText()),
      });
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

interface Made {
  readonly source: ts.Expression | undefined;
  readonly flags?: ts.Expression | undefined;
}

/** The arguments of what makes a regular expression at run time. */
function madeBy(node: ts.Node): Made | undefined {
  if (!ts.isNewExpression(node) && !ts.isCallExpression(node)) return undefined;
  const [source, flags] = node.arguments ?? [];
  if (ts.isIdentifier(node.expression) && node.expression.text === "RegExp")
    return { source, flags };
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression))
    return undefined;
  const isText =
    source !== undefined && (ts.isStringLiteral(source) || ts.isTemplateLiteral(source));
  return IMPLICIT.has(node.expression.name.text) && isText ? { source } : undefined;
}

/** Normal forms and everything of `Intl`: what they cost is the runtime's business, and need not be linear. */
function isOfRuntime(node: ts.PropertyAccessExpression): boolean {
  const isOfIntl = ts.isIdentifier(node.expression) && node.expression.text === "Intl";
  const isCalled = ts.isCallExpression(node.parent) || ts.isNewExpression(node.parent);
  return (isOfIntl || node.name.text === "normalize") && isCalled;
}

function partsOf(node: ts.RegularExpressionLiteral): { source: string; flags: string } {
  const end = node.text.lastIndexOf("/");
  return { source: node.text.slice(1, end), flags: node.text.slice(end + 1) };
}

type Constants = ReadonlyMap<string, ts.Expression>;

function constantsOf(tree: ts.SourceFile): Constants {
  const declarations = tree.statements.flatMap((statement) =>
    ts.isVariableStatement(statement) ? [...statement.declarationList.declarations] : [],
  );
  return new Map(
    declarations.flatMap(({ name, initializer }) =>
      ts.isIdentifier(name) && initializer !== undefined ? [[name.text, initializer] as const] : [],
    ),
  );
}

/** The text of an expression that is made of the file's constants alone. */
function valueOf(node: ts.Expression, constants: Constants): string | undefined {
  if (ts.isStringLiteralLike(node) || ts.isNumericLiteral(node)) return node.text;
  if (ts.isRegularExpressionLiteral(node)) return partsOf(node).source;
  if (ts.isIdentifier(node)) {
    const constant = constants.get(node.text);
    return constant && valueOf(constant, constants);
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken)
    return joined([valueOf(node.left, constants), valueOf(node.right, constants)]);
  const isRaw = ts.isTaggedTemplateExpression(node) && node.tag.getText() === "String.raw";
  const template = isRaw ? node.template : node;
  const textOf = (part: ts.TemplateLiteralLikeNode): string =>
    (isRaw ? part.rawText : part.text) ?? part.text;
  if (ts.isNoSubstitutionTemplateLiteral(template)) return textOf(template);
  if (!ts.isTemplateExpression(template)) return undefined;
  const spans = template.templateSpans.flatMap(({ expression, literal }) => [
    valueOf(expression, constants),
    textOf(literal),
  ]);
  return joined([textOf(template.head), ...spans]);
}

function joined(parts: readonly (string | undefined)[]): string | undefined {
  return parts.includes(undefined) ? undefined : parts.join("");
}
