import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/*
 * Puts the packages with native code that the app has in Azure (Linux, x64, glibc) beside those of this machine, in the
 * versions of package-lock.json. Nothing that is there is changed, so a checkout on any system goes on working.
 */

const run = promisify(execFile);

const PACKAGES = ["@img/sharp-linux-x64", "@img/sharp-libvips-linux-x64"];
const AZURE = ["--os=linux", "--cpu=x64", "--libc=glibc"];
const INSTALL_MS_MAX = 300_000;

interface Lock {
  readonly packages: Readonly<
    Record<string, { readonly version: string; readonly integrity: string }>
  >;
}

const readJson = async (path: string) => JSON.parse(await readFile(path, "utf8")) as unknown;

function lockedOf({ packages }: Lock, name: string) {
  const locked = packages[`node_modules/${name}`];
  if (locked === undefined) throw new Error(`package-lock.json has no ${name}`);
  return locked;
}

async function isThere(name: string, version: string): Promise<boolean> {
  try {
    const found = (await readJson(`node_modules/${name}/package.json`)) as { version?: unknown };
    return found.version === version;
  } catch {
    return false;
  }
}

/**
 * Installs into a folder of their own: in the whole tree, npm would take away what is not for Linux. As optional ones,
 * because npm refuses any other package for a system that is not this one.
 */
async function install(names: readonly string[], lock: Lock, folder: string): Promise<void> {
  const wanted = names.map((name) => [name, lockedOf(lock, name).version] as const);
  const project = { optionalDependencies: Object.fromEntries(wanted) };
  await writeFile(join(folder, "package.json"), JSON.stringify(project));
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  // On Windows npm is a script, which only a shell runs.
  const options = { cwd: folder, timeout: INSTALL_MS_MAX, shell: process.platform === "win32" };
  await run("npm", ["install", ...flags, ...AZURE], options);
  const installed = (await readJson(join(folder, "package-lock.json"))) as Lock;
  for (const name of names)
    if (lockedOf(installed, name).integrity !== lockedOf(lock, name).integrity)
      throw new Error(`${name} is not the one that package-lock.json names`);
}

async function addPackages(): Promise<void> {
  // Safe: npm writes it so.
  const lock = (await readJson("package-lock.json")) as Lock;
  const missing: string[] = [];
  for (const name of PACKAGES)
    if (!(await isThere(name, lockedOf(lock, name).version))) missing.push(name);
  if (missing.length === 0) return;
  const folder = await mkdtemp(join(tmpdir(), "linux-packages-"));
  try {
    await install(missing, lock, folder);
    await mkdir("node_modules/@img", { recursive: true });
    for (const name of missing) {
      await rm(`node_modules/${name}`, { recursive: true, force: true });
      await cp(join(folder, "node_modules", name), `node_modules/${name}`, { recursive: true });
      console.log(`${name}: added`);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

await addPackages();
