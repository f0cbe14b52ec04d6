import { globSync } from "node:fs";
import { resolve, sep } from "node:path";
import ts from "typescript";

// Uses of stores that other modules keep in their `…Deps`: followed by type, because every verb takes these deps.

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

/** Returns the name that an expression or a pattern takes from an object, and the object. */
function takenBy(node: ts.Node): readonly [name: string, from: ts.Node] | undefined {
  if (ts.isPropertyAccessExpression(node)) return [node.name.text, node.expression];
  if (!ts.isBindingElement(node) || !ts.isObjectBindingPattern(node.parent)) return undefined;
  return [(node.propertyName ?? node.name).getText(), node.parent];
}

/** Returns the places that use a store out of another module's deps, under `modules`, a folder of modules. */
export function foreignStoresOf(program: ts.Program, root: string, modules: string): string[] {
  const base = resolve(root, modules) + sep;
  const checker = program.getTypeChecker();
  const moduleOf = (file: string) =>
    file.startsWith(base) ? file.slice(base.length).split("/")[0] : undefined;
  const fileOf = (symbol?: ts.Symbol) => symbol?.declarations?.[0]?.getSourceFile().fileName ?? "";
  const isStore = (property: ts.Symbol) => {
    if (property.name === "stores") return true;
    const of = fileOf(checker.getTypeOfSymbol(property).symbol);
    return /-(store|queue)\.ts$/.test(of) && moduleOf(of) === moduleOf(fileOf(property));
  };
  const found: string[] = [];
  const see = (node: ts.Node): void => {
    ts.forEachChild(node, see);
    const taken = takenBy(node);
    const property = taken && checker.getTypeAtLocation(taken[1]).getProperty(taken[0]);
    const owner = fileOf(property);
    if (property === undefined || !owner.endsWith("/deps.ts") || !isStore(property)) return;
    const source = node.getSourceFile();
    if (moduleOf(owner) === moduleOf(source.fileName)) return;
    const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    found.push(`${source.fileName.slice(resolve(root).length + 1)}:${line} -> ${moduleOf(owner)}`);
  };
  for (const file of program.getRootFileNames()) {
    const source = program.getSourceFile(file);
    if (source !== undefined) see(source);
  }
  return found.sort();
}
