import ts from "typescript";

export interface Source {
  readonly path: string;
  readonly tree: ts.SourceFile;
}

/** What the sources of a tree are made of. */
export interface SourceFigures {
  /** Functions, methods and nested functions that have a name. */
  readonly functionsPer10000Tokens: number;
  /** Top-level functions and private methods of at most eight lines that are named once besides their declaration. */
  readonly functionsWithOneUse: number;
  /** Names of top-level functions, types and classes that are declared in two files outside the networks' folders. */
  readonly namesInTwoFiles: number;
  /** Types whose name is a participle and nothing else. */
  readonly participleTypes: number;
  /** Tokens of the parsed sources by module, a folder of `src/shared` or of `src`. */
  readonly tokens: Readonly<Record<string, number>>;
}

const SHORT_LINES_MAX = 8;
/** Networks name the members of their contract alike on purpose. */
const NETWORK = /\/networks\/(facebook|instagram|linkedin|bluesky|mastodon|graph)\//;

const moduleOf = (path: string) => path.replace(/^src\/(shared\/)?/, "").split("/")[0] ?? path;

/** A function, method or getter with a name, and where it is. */
interface NamedFunction {
  readonly name: ts.Identifier | ts.PrivateIdentifier;
  readonly whole: ts.Node;
  readonly isMethod: boolean;
}

function namedFunctionOf(node: ts.Node): NamedFunction | undefined {
  if (ts.isFunctionDeclaration(node) && node.name !== undefined && node.body !== undefined)
    return { name: node.name, whole: node, isMethod: false };
  if (
    ts.isVariableDeclaration(node) &&
    ts.isIdentifier(node.name) &&
    node.initializer !== undefined &&
    (ts.isArrowFunction(node.initializer) || ts.isFunctionExpression(node.initializer))
  )
    return { name: node.name, whole: node.parent.parent, isMethod: false };
  if (
    (ts.isMethodDeclaration(node) || ts.isGetAccessor(node)) &&
    node.body !== undefined &&
    (ts.isIdentifier(node.name) || ts.isPrivateIdentifier(node.name))
  )
    return { name: node.name, whole: node, isMethod: true };
  return undefined;
}

const isImported = ({ parent }: ts.Node) =>
  ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent);

/** A name, and the files that declare it. */
export interface DeclaredName {
  readonly name: string;
  readonly paths: readonly string[];
}

/** Participles that English forms without "ed", and two that stand alone as if they were nouns. */
const PARTICIPLE =
  /^(?:[A-Z][a-z]+ed|Found|Made|Kept|Told|Sent|Begun|Said|Held|Taken|Drawn|Written|Known|Shown|Lost|Spent|Seen|Given|Undone|Beside|Own)$/;
/** Nouns that end as participles do. */
const NOUNS: ReadonlySet<string> = new Set(["Embed", "Feed", "Speed", "Seed", "Need"]);

/** Finds names that stand for two things, types that are named by a participle, and things that are exported renamed. */
export function namesOf(sources: readonly Source[]): {
  readonly inTwoFiles: readonly DeclaredName[];
  readonly participles: readonly DeclaredName[];
  readonly aliases: readonly DeclaredName[];
} {
  const declaredIn = new Map<string, Set<string>>();
  const participles: DeclaredName[] = [];
  const aliases: DeclaredName[] = [];
  for (const { path, tree } of sources)
    for (const statement of tree.statements) {
      if (ts.isExportDeclaration(statement)) {
        const { exportClause } = statement;
        if (exportClause !== undefined && ts.isNamedExports(exportClause))
          for (const { name, propertyName } of exportClause.elements)
            if (propertyName !== undefined) aliases.push({ name: name.text, paths: [path] });
      }
      const isType = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
      const names = ts.isVariableStatement(statement)
        ? statement.declarationList.declarations.map((one) => namedFunctionOf(one)?.name.text)
        : isType || ts.isClassDeclaration(statement) || ts.isFunctionDeclaration(statement)
          ? [statement.name?.text]
          : [];
      for (const name of names) {
        if (name === undefined) continue;
        if (isType && PARTICIPLE.test(name) && !NOUNS.has(name))
          participles.push({ name, paths: [path] });
        if (!NETWORK.test(path))
          declaredIn.set(name, (declaredIn.get(name) ?? new Set()).add(path));
      }
    }
  const inTwoFiles = [...declaredIn]
    .filter(([, paths]) => paths.size > 1)
    .map(([name, paths]) => ({ name, paths: [...paths] }));
  return { inTwoFiles, participles, aliases };
}

/** Counts what the sources are made of. */
export function sourceFiguresOf(sources: readonly Source[]): SourceFigures {
  const tokens: Record<string, number> = {};
  const uses = new Map<string, number>();
  const shortOnes: string[] = [];
  let functions = 0;
  for (const { path, tree } of sources) {
    const lineAt = (position: number) => tree.getLineAndCharacterOfPosition(position).line;
    let count = 0;
    const visit = (node: ts.Node) => {
      if (node.getChildCount(tree) === 0 && node.kind !== ts.SyntaxKind.EndOfFileToken) count += 1;
      if ((ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) && !isImported(node))
        uses.set(node.text, (uses.get(node.text) ?? 0) + 1);
      const named = namedFunctionOf(node);
      if (named !== undefined) {
        const { name, whole, isMethod } = named;
        const isTop = whole.parent === tree;
        const lines = lineAt(whole.getEnd()) - lineAt(whole.getStart(tree)) + 1;
        functions += 1;
        const isPrivate = isMethod && ts.isPrivateIdentifier(name);
        if ((isTop || isPrivate) && lines <= SHORT_LINES_MAX) shortOnes.push(name.text);
      }
      node.getChildren(tree).forEach(visit);
    };
    visit(tree);
    tokens[moduleOf(path)] = (tokens[moduleOf(path)] ?? 0) + count;
  }
  const names = namesOf(sources);
  const all = Object.values(tokens).reduce((sum, count) => sum + count, 0);
  return {
    functionsPer10000Tokens: Math.round((100_000 * functions) / Math.max(1, all)) / 10,
    functionsWithOneUse: shortOnes.filter((name) => uses.get(name) === 2).length,
    namesInTwoFiles: names.inTwoFiles.length,
    participleTypes: names.participles.length,
    tokens,
  };
}
