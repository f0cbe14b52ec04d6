import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const SANDBOX = "sandbox";
const PRODUCT = "src/shared";
/** Escaping of a page's text: what a reader sees is not what is checked. */
const MARKUP = "src/shared/runtime/markup.ts";

function sources(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name));
}

function parse(path: string): ts.SourceFile {
  const text = readFileSync(join(ROOT, path), "utf8");
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
}

function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  node.forEachChild((child) => walk(child, visit));
}

/** Shorter ones are the same by chance: a digit, a word, a slash. */
const LENGTH_MIN = 16;
const ENTRIES_MIN = 4;

/** The patterns and tables of a file, as they are written. */
function tablesOf(path: string): readonly string[] {
  const found: string[] = [];
  walk(parse(path), (node) => {
    const isPattern =
      ts.isRegularExpressionLiteral(node) ||
      (ts.isTaggedTemplateExpression(node) && node.tag.getText() === "String.raw");
    const isTable =
      (ts.isArrayLiteralExpression(node) && node.elements.length >= ENTRIES_MIN) ||
      (ts.isObjectLiteralExpression(node) && node.properties.length >= ENTRIES_MIN);
    // Names of variables in a row are a call's arguments or result, and no table.
    const says = (text: string) => /["'`\d]/.test(text);
    const text = node.getText().replace(/\s+/g, "");
    if (text.length >= LENGTH_MIN && (isPattern || (isTable && says(text)))) found.push(text);
  });
  return found;
}

test("the sandbox imports nothing of the relay but the escaping of HTML", () => {
  const foreign = sources(SANDBOX).flatMap((path) => {
    const { fileName, statements } = parse(path);
    return statements.flatMap((statement) => {
      if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
      const specifier = statement.moduleSpecifier?.getText().slice(1, -1) ?? "";
      const target = specifier.startsWith(".")
        ? relative(ROOT, join(ROOT, fileName, "..", specifier))
        : specifier;
      return target.startsWith("src/") && target !== MARKUP ? [`${path}: ${specifier}`] : [];
    });
  });
  expect(foreign).toEqual([]);
});

test("no pattern and no table of the sandbox is the same text as one of the relay", () => {
  const known = new Set(sources(PRODUCT).flatMap(tablesOf));
  const shared = sources(SANDBOX).flatMap((path) =>
    tablesOf(path).flatMap((text) => (known.has(text) ? [`${path}: ${text.slice(0, 120)}`] : [])),
  );
  expect(shared).toEqual([]);
});

test("the sandbox measures pictures and videos with none of the relay's libraries", () => {
  const libraries = /^(?:sharp|image-size|mediabunny|libheif-js)$/;
  const used = sources(SANDBOX).filter((path) => {
    let isUsed = false;
    walk(parse(path), (node) => {
      if (ts.isImportDeclaration(node))
        isUsed ||= libraries.test(node.moduleSpecifier.getText().slice(1, -1));
    });
    return isUsed;
  });
  expect(used).toEqual([]);
});
