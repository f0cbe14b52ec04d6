import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import ts from "typescript";
import { type DepsSize, depsSizesOf } from "./deps-leaves.ts";
import { foreignStoresOf, programOf } from "./foreign-stores.ts";

const TREES = ["src", "test", "dev", "bench"] as const;
const FILE_LINES_MAX = 350;
const FUNCTION_LINES_MAX = 60;
/** Fields of what a module takes of the process, and what they hold. */
const DEPS_MAX = 12;
const MODULES = "src/shared/";

/** What the tracked file of limits says. */
export interface Limits {
  /** All lines of `.ts` files, by tree. */
  readonly lines: Readonly<Record<string, number>>;
  readonly queues: number;
  /** Every kind of row, by its role. A role's limit is the number of its kinds. */
  readonly rowKinds: Readonly<Record<string, readonly string[]>>;
  /** What modules take of the process that need more than the rest, and why. */
  readonly depsLeaves?: Readonly<Record<string, { readonly max: number; readonly why: string }>>;
}

/** A list of places, so that a reader of the figure sees what it counts. */
type Places = readonly string[];

export interface Structure {
  readonly lines: Readonly<Record<string, number>>;
  readonly rowKinds: Places;
  readonly queues: Places;
  /** What each interface named `…Deps` takes of the process. */
  readonly deps: ReadonlyMap<string, DepsSize>;
  /** Imports of other modules' stores, and uses of those in other modules' `…Deps`. */
  readonly foreignStores: Places;
  readonly folderCycles: Places;
  readonly importsUp: Places;
  readonly longFiles: Places;
  readonly longFunctions: Places;
}

interface Import {
  readonly from: string;
  readonly to: string;
}

interface Source {
  readonly path: string;
  readonly tree: ts.SourceFile;
  readonly lines: number;
}

const linesOf = (text: string) => text.split("\n").length - (text.endsWith("\n") ? 1 : 0);

function sourcesOf(root: string, tree: string): Source[] {
  return globSync(`${tree}/**/*.ts`, { cwd: root })
    .map((path) => path.split(sep).join("/"))
    .filter((path) => !path.includes("node_modules/"))
    .sort()
    .map((path) => {
      const text = readFileSync(join(root, path), "utf8");
      const parsed = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
      return { path, tree: parsed, lines: linesOf(text) };
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

function longFunctionsOf({ path, tree }: Source): string[] {
  const found: string[] = [];
  visit(tree, (node) => {
    if (!ts.isFunctionLike(node) || !("body" in node) || node.body === undefined) return;
    const line = (at: number) => tree.getLineAndCharacterOfPosition(at).line;
    const [first, last] = [line(node.getStart()), line(node.end)];
    if (last - first + 1 > FUNCTION_LINES_MAX) found.push(`${path}:${first + 1}`);
  });
  return found;
}

/** Measures the sources under a folder. `order`: the folders of `src/shared`, from the top down. */
export function structureOf(root: string, order: readonly string[]): Structure {
  const trees = TREES.map((tree) => [tree, sourcesOf(root, tree)] as const);
  const lines = trees.map(([tree, all]) => [tree, all.reduce((sum, one) => sum + one.lines, 0)]);
  const sources = trees.find(([tree]) => tree === "src")?.[1] ?? [];
  const program = programOf(root);
  const imports = sources.flatMap(importsOf);
  const across = imports.filter(({ from, to }) => {
    const [a, b] = [moduleOf(from), moduleOf(to)];
    return a !== b && order.includes(a ?? "") && order.includes(b ?? "");
  });
  const place = (path: string) => order.indexOf(moduleOf(path) ?? "");
  const told = ({ from, to }: Import) => `${from} -> ${to}`;
  return {
    lines: Object.fromEntries(lines) as Readonly<Record<string, number>>,
    rowKinds: argumentsOf(sources, "rowCodec", 0),
    queues: argumentsOf(sources, "worker", 0),
    deps: depsSizesOf(program, root),
    foreignStores: [
      ...across.filter(({ to }) => /-(store|queue)\.ts$/.test(to)).map(told),
      ...foreignStoresOf(program, root, MODULES),
    ],
    folderCycles: folderCyclesOf(imports.filter(({ to }) => to.startsWith("src/"))),
    importsUp: across.filter(({ from, to }) => place(to) < place(from)).map(told),
    longFiles: sources
      .filter(({ lines: count }) => count > FILE_LINES_MAX)
      .map(({ path, lines: count }) => `${path} (${count})`),
    longFunctions: sources.flatMap(longFunctionsOf),
  };
}

/** Returns what is beyond the limits. */
export function problemsOf(structure: Structure, limits: Limits): string[] {
  const { lines, rowKinds, queues, deps } = structure;
  const leavesMax = (name: string) => limits.depsLeaves?.[name]?.max ?? DEPS_MAX;
  const none = (what: string, places: Places) => places.map((place) => `${what}: ${place}`);
  const known = new Set(Object.values(limits.rowKinds).flat());
  return [
    ...Object.entries(lines)
      .filter(([tree, count]) => count > (limits.lines[tree] ?? 0))
      .map(([tree, count]) => `${tree} has ${count} lines of at most ${limits.lines[tree] ?? 0}`),
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
    ...none(`a file has more than ${FILE_LINES_MAX} lines`, structure.longFiles),
    ...none(`a function has more than ${FUNCTION_LINES_MAX} lines`, structure.longFunctions),
  ];
}
