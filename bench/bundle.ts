import type { Metafile } from "esbuild";

const MAIN = "dist/main.js";

/** What the bundle weighs, by where it comes from: a package's name, or a folder of ours. */
export interface BundleSize {
  readonly bytes: number;
  readonly byPackage: Readonly<Record<string, number>>;
}

function packageOf(path: string): string {
  const inPackages = path.lastIndexOf("node_modules/");
  if (inPackages < 0)
    return path
      .split("/")
      .slice(0, 3)
      .join("/")
      .replace(/\/[^/]+\.ts$/, "");
  const [scope = "", name = ""] = path.slice(inPackages + "node_modules/".length).split("/");
  return scope.startsWith("@") ? `${scope}/${name}` : scope;
}

function sizeOf({ outputs }: Metafile, files: Iterable<string>): BundleSize {
  let bytes = 0;
  const byPackage: Record<string, number> = {};
  for (const file of files) {
    const output = outputs[file];
    if (output === undefined) continue;
    bytes += output.bytes;
    for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
      const name = packageOf(path);
      byPackage[name] = (byPackage[name] ?? 0) + bytesInOutput;
    }
  }
  const sorted = Object.entries(byPackage).sort(([, left], [, right]) => right - left);
  return { bytes, byPackage: Object.fromEntries(sorted) };
}

/** The file and what it imports, but not what it imports when that is first needed. */
export function loadedWith({ outputs }: Metafile, entry: string): ReadonlySet<string> {
  const loaded = new Set<string>();
  const waiting = [entry];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    const output = outputs[file];
    if (loaded.has(file) || output === undefined) continue;
    loaded.add(file);
    for (const { path, kind, external } of output.imports)
      if (kind !== "dynamic-import" && external !== true) waiting.push(path);
  }
  return loaded;
}

/** Our own sources in these files of the bundle. */
function sourcesOf({ outputs }: Metafile, files: Iterable<string>): string[] {
  const paths = [...files].flatMap((file) => Object.keys(outputs[file]?.inputs ?? {}));
  return paths.filter((path) => path.startsWith("src/")).sort();
}

/** Our own sources in what is loaded before the first function is registered. */
export function sourcesAtStart(metafile: Metafile): string[] {
  return sourcesOf(metafile, loadedWith(metafile, MAIN));
}

const partsAmong = ({ outputs }: Metafile, urls: readonly string[]) =>
  Object.keys(outputs).filter((file) => urls.some((url) => url.endsWith(`/${file}`)));

/** Our own sources in those parts of the bundle that are among these module addresses. */
export function sourcesOfParts(metafile: Metafile, urls: readonly string[]): string[] {
  return sourcesOf(metafile, partsAmong(metafile, urls));
}

/** What is loaded before the first function is registered. */
export function startSize(metafile: Metafile): BundleSize {
  return sizeOf(metafile, loadedWith(metafile, MAIN));
}

/** Everything that is deployed of the bundle, without its source maps. */
export function wholeSize(metafile: Metafile): BundleSize {
  const files = Object.keys(metafile.outputs).filter((file) => file.endsWith(".js"));
  return sizeOf(metafile, files);
}

/** Neither a folder of ours nor one of node's own modules, which the build puts in by their names. */
const isPackage = (name: string) => !name.startsWith("src") && !name.includes(":");

export function packagesOf({ byPackage }: BundleSize): string[] {
  return Object.keys(byPackage).filter(isPackage).sort();
}

/** The packages in those parts of the bundle that are among these module addresses. */
export function packagesOfParts(metafile: Metafile, urls: readonly string[]): string[] {
  return packagesOf(sizeOf(metafile, partsAmong(metafile, urls)));
}
