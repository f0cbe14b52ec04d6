import { createHash } from "node:crypto";
import { globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/*
 * What `dist` was built from, so that `npm start` builds only after a change. Own files count by their content, because
 * an editor may keep length and time; files of packages by length and time, because there are many and an installation
 * sets both.
 */

/** The app, the bundler's program, what renders the reference, and the versions of packages. */
const OWN = ["src/**/*", "tools/**/*", "package.json", "package-lock.json", "tsconfig.json"];
export const BUILD_STAMP = join("dist", "built-from.json");

interface BuildStamp {
  readonly node: string;
  readonly own: string;
  /** Length and time of each file of a package that is in the bundle, by its path. */
  readonly packages: Readonly<Record<string, string>>;
  /** Length of each file that was written, by its path. */
  readonly outputs: Readonly<Record<string, number>>;
}

/** Hashes names and contents of the repository's files that the build reads. Taken before a build, which may take long. */
export function hashOwnFiles(root: string): string {
  const hash = createHash("sha256");
  const files = OWN.flatMap((pattern) => globSync(pattern, { cwd: root })).toSorted();
  for (const path of files) {
    const absolute = join(root, path);
    if (!statSync(absolute).isFile()) continue;
    const content = readFileSync(absolute);
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex");
}

function lengthAndTime(path: string): string {
  const { size, mtimeMs } = statSync(path);
  return `${size} ${mtimeMs}`;
}

/** Writes what a build was made from. `inputs`: the bundler's names of all files that it read. */
export function stampBuild(
  root: string,
  own: string,
  { inputs, outputs }: { readonly inputs: readonly string[]; readonly outputs: readonly string[] },
): void {
  // A plugin's copies of files have its name before a colon.
  const paths = new Set(inputs.map((input) => input.replace(/^[a-z-]+:/, "")));
  const ofPackages = [...paths].filter((path) => path.includes("node_modules"));
  const stamp: BuildStamp = {
    node: process.version,
    own,
    packages: Object.fromEntries(
      ofPackages.map((path) => [path, lengthAndTime(resolve(root, path))]),
    ),
    outputs: Object.fromEntries(outputs.map((path) => [path, statSync(join(root, path)).size])),
  };
  writeFileSync(join(root, BUILD_STAMP), JSON.stringify(stamp));
}

/** Reports whether the build in `dist` is whole and was made from the files as they are. */
export function isBuildCurrent(root: string): boolean {
  try {
    // Safe: only `stampBuild` writes it, and what else it may be is no current build either.
    const stamp = JSON.parse(readFileSync(join(root, BUILD_STAMP), "utf8")) as BuildStamp;
    const { node, own, packages, outputs } = stamp;
    return (
      node === process.version &&
      Object.entries(outputs).every(([path, size]) => statSync(join(root, path)).size === size) &&
      Object.entries(packages).every(([path, was]) => lengthAndTime(resolve(root, path)) === was) &&
      hashOwnFiles(root) === own
    );
  } catch {
    return false;
  }
}
