import { execFile } from "node:child_process";
import { cp, lstat, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, "../../..");

interface Pattern {
  readonly isKept: boolean;
  readonly isFolder: boolean;
  readonly isAnchored: boolean;
  readonly text: RegExp;
}

/** A line of `.funcignore` as azd understands it (denormal/go-gitignore, without `**`). */
function toPattern(line: string): Pattern {
  const [, negation = "", slash = "", name = "", end = ""] =
    /^(!?)(\/?)(.*?)(\/?)$/.exec(line) ?? [];
  if (/\*\*|[?[\\]/.test(name))
    throw new Error(`${line}: only names and single stars are read here`);
  // A star stops at a slash only where the pattern has a slash of its own; else it runs over folders.
  const star = name.includes("/") ? "[^/]*" : ".*";
  const parts = name.split("*").map((part) => part.replaceAll(/[.+^${}()|]/g, String.raw`\$&`));
  return {
    isKept: negation !== "",
    isFolder: end !== "",
    isAnchored: slash !== "" || name.includes("/"),
    text: new RegExp(`^${parts.join(star)}$`),
  };
}

export async function readPatterns(): Promise<string[]> {
  const text = await readFile(join(ROOT, ".funcignore"), "utf8");
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

function isLeftOut(patterns: readonly Pattern[], path: string, isFolder: boolean): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const last = patterns.findLast(
    (pattern) =>
      (isFolder || !pattern.isFolder) && pattern.text.test(pattern.isAnchored ? path : name),
  );
  return last !== undefined && !last.isKept;
}

/** Returns the files that azd sends, from the top down: what is in a folder that is left out is never asked for. */
export async function filesSent(root = ROOT): Promise<string[]> {
  const patterns = (await readPatterns()).map(toPattern);
  const files: string[] = [];
  const folders = [""];
  for (const folder of folders) {
    for (const name of await readdir(join(root, folder))) {
      const path = folder === "" ? name : `${folder}/${name}`;
      const isFolder = (await lstat(join(root, path))).isDirectory();
      if (isLeftOut(patterns, path, isFolder)) continue;
      if (isFolder) folders.push(path);
      else files.push(path);
    }
  }
  return files.toSorted();
}

/** The same by the rules of Git, which other tools go by. */
export async function filesSentByGit(): Promise<string[]> {
  const repository = await mkdtemp(join(tmpdir(), "funcignore-"));
  try {
    const at = [`--git-dir=${repository}`, `--work-tree=${ROOT}`];
    await run("git", ["init", "--quiet", "--bare", repository]);
    const { stdout } = await run(
      "git",
      [...at, "ls-files", "--others", "-z", `--exclude-from=${join(ROOT, ".funcignore")}`],
      { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 },
    );
    return stdout.split("\0").filter(Boolean).toSorted();
  } finally {
    await rm(repository, { recursive: true, force: true });
  }
}

/** Copies what azd sends into a folder of its own, above which there are no packages. */
export async function stagePackage(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "package-"));
  for (const path of await filesSent()) await cp(join(ROOT, path), join(folder, path));
  return folder;
}
