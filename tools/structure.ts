import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import ts from "typescript";
import { type DepsSize, depsSizesOf } from "./deps-leaves.ts";
import { foreignStoresOf, programOf } from "./foreign-stores.ts";
import { type Source, type SourceFigures, sourceFiguresOf } from "./source-figures.ts";

/** The figures of all sources that have a limit, and what each counts. */
const COUNTED = [
  ["functionsPer10000Tokens", "functions in 10,000 tokens"],
  ["functionsWithOneUse", "functions of at most eight lines with one use"],
  ["namesInTwoFiles", "names of functions, types and classes in two files"],
  ["participleTypes", "types named by a participle"],
] as const;
/** Fields of what a module takes of the process, and what they hold. */
const DEPS_MAX = 14;
const MODULES = "src/shared/";

/** What the tracked file of limits says. */
export interface Limits {
  /** What the sources of `src` may have at most, as `sourceFiguresOf` counts it. */
  readonly functionsPer10000Tokens: number;
  readonly functionsWithOneUse: number;
  readonly namesInTwoFiles: number;
  readonly participleTypes: number;
  /** Tokens of the parsed sources, by module. */
  readonly tokens: Readonly<Record<string, number>>;
  readonly queues: number;
  /** Every kind of row, by its role. A role's limit is the number of its kinds. */
  readonly rowKinds: Readonly<Record<string, readonly string[]>>;
  /** What modules take of the process that need more than the rest, and why. */
  readonly depsLeaves?: Readonly<Record<string, { readonly max: number; readonly why: string }>>;
}

/** A list of places, so that a reader of the figure sees what it counts. */
type Places = readonly string[];

export interface Structure {
  readonly figures: SourceFigures;
  readonly rowKinds: Places;
  readonly queues: Places;
  /** What each interface named `…Deps` takes of the process. */
  readonly deps: ReadonlyMap<string, DepsSize>;
  /** Imports of other modules' stores, and uses of those in other modules' `…Deps`. */
  readonly foreignStores: Places;
  readonly folderCycles: Places;
  readonly importsUp: Places;
}

interface Import {
  readonly from: string;
  readonly to: string;
}

export function sourcesOf(root: string): Source[] {
  return globSync("src/**/*.ts", { cwd: root })
    .map((path) => path.split(sep).join("/"))
    .sort()
    .map((path) => {
      const text = readFileSync(join(root, path), "utf8");
      return { path, tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) };
    });
}

function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node);
  ts.forEachChild(node, (child) => visit(child, see));
}

function importsOf({ path, tree }: Source): Import[] {
  const found: Import[] = [];
  visit(tree, (node) => {
    const target =
      ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
        ? node.moduleSpecifier
        : ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
          ? node.arguments[0]
          : undefined;
    if (target === undefined || !ts.isStringLiteral(target) || !target.text.startsWith(".")) return;
    const to = relative(".", join(dirname(path), target.text))
      .split(sep)
      .join("/");
    found.push({ from: path, to });
  });
  return found;
}

/** Returns an argument of every call of that function: a text as it is, anything else as it is written. */
function argumentsOf(sources: readonly Source[], name: string, index: number): string[] {
  const found = new Set<string>();
  for (const { tree } of sources)
    visit(tree, (node) => {
      if (!ts.isCallExpression(node) || node.expression.getText() !== name) return;
      const argument = node.arguments[index];
      if (argument === undefined) return;
      found.add(ts.isStringLiteral(argument) ? argument.text : argument.getText());
    });
  return [...found].sort();
}

const moduleOf = (path: string) =>
  path.startsWith(MODULES) ? path.slice(MODULES.length).split("/")[0] : undefined;

/** Returns the groups of subfolders, below any folder, each of which imports itself through the others. */
function folderCyclesOf(imports: readonly Import[]): string[] {
  const edges = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const [a, b] = [dirname(from).split("/"), dirname(to).split("/")];
    const shared = a.findIndex((part, index) => part !== b[index]);
    // One of them is below the other, or they are in one folder.
    if (shared < 0 || shared >= b.length) continue;
    const own = a.slice(0, shared + 1).join("/");
    edges.set(own, (edges.get(own) ?? new Set()).add(b.slice(0, shared + 1).join("/")));
  }
  const reached = (start: string) => {
    const seen = new Set<string>();
    const open = [...(edges.get(start) ?? [])];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(...(edges.get(next) ?? []));
    }
    return seen;
  };
  const reach = new Map([...edges.keys()].map((folder) => [folder, reached(folder)]));
  const groups = [...reach.keys()]
    .filter((folder) => reach.get(folder)?.has(folder) === true)
    .map((folder) =>
      [...(reach.get(folder) ?? [])].filter((other) => reach.get(other)?.has(folder) === true),
    );
  return [...new Set(groups.map((group) => group.sort().join(" ↔ ")))].sort();
}

/** Measures the sources under a folder. `order`: the folders of `src/shared`, from the top down. */
export function structureOf(root: string, order: readonly string[]): Structure {
  const sources = sourcesOf(root);
  const program = programOf(root);
  const imports = sources.flatMap(importsOf);
  const across = imports.filter(({ from, to }) => {
    const [a, b] = [moduleOf(from), moduleOf(to)];
    return a !== b && order.includes(a ?? "") && order.includes(b ?? "");
  });
  const place = (path: string) => order.indexOf(moduleOf(path) ?? "");
  const told = ({ from, to }: Import) => `${from} -> ${to}`;
  return {
    figures: sourceFiguresOf(sources),
    rowKinds: argumentsOf(sources, "rowCodec", 0),
    queues: argumentsOf(sources, "worker", 0),
    deps: depsSizesOf(program, root),
    foreignStores: [
      ...across.filter(({ to }) => /-(store|queue)\.ts$/.test(to)).map(told),
      ...foreignStoresOf(program, root, MODULES),
    ],
    folderCycles: folderCyclesOf(imports.filter(({ to }) => to.startsWith("src/"))),
    importsUp: across.filter(({ from, to }) => place(to) < place(from)).map(told),
  };
}

/** Returns what is beyond the limits. */
export function problemsOf(structure: Structure, limits: Limits): string[] {
  const { figures, rowKinds, queues, deps } = structure;
  const leavesMax = (name: string) => limits.depsLeaves?.[name]?.max ?? DEPS_MAX;
  const none = (what: string, places: Places) => places.map((place) => `${what}: ${place}`);
  const known = new Set(Object.values(limits.rowKinds).flat());
  return [
    ...COUNTED.filter(([name]) => figures[name] > limits[name]).map(
      ([name, what]) => `there are ${figures[name]} ${what}, of at most ${limits[name]}`,
    ),
    ...Object.entries(figures.tokens)
      .filter(([module, count]) => count > (limits.tokens[module] ?? 0))
      .map(
        ([module, count]) =>
          `${module} has ${count} tokens of at most ${limits.tokens[module] ?? 0}`,
      ),
    ...(queues.length > limits.queues
      ? [`there are ${queues.length} queues of at most ${limits.queues}: ${queues.join(", ")}`]
      : []),
    ...rowKinds
      .filter((kind) => !known.has(kind))
      .map((kind) => `the row kind "${kind}" has no role`),
    ...[...deps]
      .filter(([, { fields }]) => fields > DEPS_MAX)
      .map(([name, { fields }]) => `${name} has ${fields} fields of at most ${DEPS_MAX}`),
    ...[...deps]
      .filter(([name, { leaves }]) => leaves > leavesMax(name))
      .map(([name, { leaves }]) => `${name} holds ${leaves} things of at most ${leavesMax(name)}`),
    ...none("a store of another module is used", structure.foreignStores),
    ...none("folders import each other", structure.folderCycles),
    ...none("an import runs up", structure.importsUp),
  ];
}
