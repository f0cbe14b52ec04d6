import { mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { brotliDecompressSync } from "node:zlib";

/** The files of a bundle by their paths, which begin with `dist/`. */
type Files = Readonly<Record<string, string>>;

/** A piece of a bundle's code, and what a test puts in its place. */
export interface Patch {
  readonly from: string;
  readonly to: string;
}

/** A bundle, with the settings of the host that it came with. */
export interface Build {
  readonly files: Files;
  readonly hostJson: string;
}

/** Reads the build that was kept. */
export async function keptBuild(): Promise<Build> {
  const packed = await readFile("test/process/releases/kept.json.br");
  // Safe: `tools/keep-release.ts` wrote it.
  return JSON.parse(brotliDecompressSync(packed).toString()) as Build;
}

/** Reads the bundle of the present sources, which the test run has built. */
export async function currentBuild(): Promise<Build> {
  const names = await readdir("dist", { recursive: true });
  const paths = names.filter((name) => name.endsWith(".js")).map((name) => join("dist", name));
  const texts = await Promise.all(paths.map((path) => readFile(path, "utf8")));
  const files = Object.fromEntries(paths.map((path, index) => [path, texts[index] ?? ""]));
  return { files, hostJson: await readFile("host.json", "utf8") };
}

function patchedText(text: string, patches: readonly Patch[]): string {
  return patches.reduce((patched, { from, to }) => patched.replaceAll(from, () => to), text);
}

/** Returns the build with other code. @throws Error when a piece is not there, so that no patch is in vain */
export function patched({ files, hostJson }: Build, patches: readonly Patch[]): Build {
  for (const { from } of patches)
    if (!Object.values(files).some((text) => text.includes(from)))
      throw new Error(`the bundle has no ${from}`);
  const changed = Object.entries(files).map(([path, text]) => [path, patchedText(text, patches)]);
  return { files: Object.fromEntries(changed) as Files, hostJson };
}

/** Writes a build to a folder of its own, from which the host can start it. */
export async function unpack({ files, hostJson }: Build): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "relay-release-"));
  const others = {
    "host.json": hostJson,
    "package.json": JSON.stringify({ type: "module", main: "dist/main.js" }),
  };
  for (const [path, text] of Object.entries({ ...files, ...others })) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  await symlink(resolve("node_modules"), join(folder, "node_modules"));
  return folder;
}
