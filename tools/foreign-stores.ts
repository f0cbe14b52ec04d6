import { globSync } from "node:fs";
import { resolve, sep } from "node:path";
import ts from "typescript";

// Uses of stores outside their module, followed by type: whatever the property that leads to one is called, wherever it is
// declared, and whatever type it is given to.

/** Classes over rows that several modules write. */
const SHARED = ["events/event-store.ts", "wake/wake-store.ts"];

const OPTIONS: ts.CompilerOptions = {
  lib: ["lib.es2024.d.ts"],
  types: [],
  noEmit: true,
  allowImportingTsExtensions: true,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ESNext,
};

/** Makes a program of the sources alone: without packages it takes a few seconds. */
export function programOf(root: string): ts.Program {
  const files = globSync("src/**/*.ts", { cwd: root }).map((path) => resolve(root, path));
  const host = ts.createCompilerHost(OPTIONS, true);
  host.resolveModuleNameLiterals = (literals, from) =>
    literals.map(({ text }) => {
      const resolvedFileName = resolve(from, "..", text);
      const isKnown = text.startsWith(".") && ts.sys.fileExists(resolvedFileName);
      return { resolvedModule: isKnown ? { resolvedFileName, extension: ".ts" } : undefined };
    });
  return ts.createProgram(files, OPTIONS, host);
}

/** Returns the object of an expression or a pattern that takes something out of it, and the name of that. */
function takenBy(node: ts.Node): readonly [name: string, from: ts.Node] | undefined {
  if (ts.isPropertyAccessExpression(node)) return [node.name.text, node.expression];
  if (!ts.isBindingElement(node) || !ts.isObjectBindingPattern(node.parent)) return undefined;
  return [(node.propertyName ?? node.name).getText(), node.parent];
}

/** Returns what an object or a call is given, and the type of the place that it is given to. */
function givenBy(
  node: ts.Node,
  checker: ts.TypeChecker,
): readonly [given: ts.Expression, to: ts.Type | undefined] | undefined {
  if (ts.isSpreadAssignment(node)) return [node.expression, checker.getContextualType(node.parent)];
  if (ts.isShorthandPropertyAssignment(node)) {
    const to = checker.getContextualType(node.parent)?.getProperty(node.name.text);
    return [node.name, to && checker.getTypeOfSymbol(to)];
  }
  if (!ts.isExpression(node)) return undefined;
  const { parent } = node;
  const isValue = ts.isPropertyAssignment(parent) && parent.initializer === node;
  const isCall = ts.isCallExpression(parent) || ts.isNewExpression(parent);
  const isArgument = isCall && parent.arguments?.includes(node) === true;
  return isValue || isArgument ? [node, checker.getContextualType(node)] : undefined;
}

/** Returns the places that use or hand on a store of another module, under `modules`, a folder of modules. */
export function foreignStoresOf(program: ts.Program, root: string, modules: string): string[] {
  const base = resolve(root, modules) + sep;
  const checker = program.getTypeChecker();
  const moduleOf = (file: string) =>
    file.startsWith(base) ? file.slice(base.length).split(sep)[0] : undefined;
  const fileOf = (symbol?: ts.Symbol) => symbol?.declarations?.[0]?.getSourceFile().fileName ?? "";
  const storeOf = (given: ts.Type): string | undefined => {
    const type = checker.getNonNullableType(given);
    const file = fileOf(type.symbol);
    const isStore = file.endsWith("-store.ts") && !SHARED.includes(file.slice(base.length));
    return isStore && type.isClass() ? moduleOf(file) : undefined;
  };
  /** Returns the module of a store that is hidden behind the type of the place that it is given to. */
  const hiddenBy = (given: ts.Type, to: ts.Type | undefined): string | undefined => {
    const store = storeOf(given);
    if (store !== undefined) return to && storeOf(to) === store ? undefined : store;
    for (const property of given.getProperties()) {
      const held = storeOf(checker.getTypeOfSymbol(property));
      if (held === undefined) continue;
      const place = to?.getProperty(property.name);
      if (to !== undefined && place === undefined) continue;
      if (place === undefined || storeOf(checker.getTypeOfSymbol(place)) !== held) return held;
    }
    return undefined;
  };
  const moduleUsed = (node: ts.Node): string | undefined => {
    const [given, to] = givenBy(node, checker) ?? [];
    const hidden = given && hiddenBy(checker.getTypeAtLocation(given), to);
    if (hidden !== undefined) return hidden;
    const taken = takenBy(node);
    const property = taken && checker.getTypeAtLocation(taken[1]).getProperty(taken[0]);
    if (property === undefined) return undefined;
    const owner = fileOf(property);
    if (property.name === "stores" && owner.endsWith("/deps.ts")) return moduleOf(owner);
    return storeOf(checker.getTypeOfSymbol(property));
  };
  const found: string[] = [];
  const see = (node: ts.Node): void => {
    ts.forEachChild(node, see);
    const used = moduleUsed(node);
    const source = node.getSourceFile();
    if (used === undefined || used === moduleOf(source.fileName)) return;
    const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    found.push(`${source.fileName.slice(resolve(root).length + 1)}:${line} -> ${used}`);
  };
  for (const file of program.getRootFileNames()) {
    const source = program.getSourceFile(file);
    if (source !== undefined) see(source);
  }
  return found.sort();
}
