import { spawn } from "node:child_process";
import { mkdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { setTimeout as delay } from "node:timers/promises";

/** Packages of a part of the test suite, which the product's own lock file does not have. */
interface Extra {
  readonly folder: URL;
  readonly wanted: URL;
  /** What npm writes last of all, of what it installed. */
  readonly installed: URL;
  /** Outside `node_modules`, which npm removes. Made by one of several test files at a time. */
  readonly lock: URL;
}

/** How long everything may take; a test file's hook must wait longer. */
export const INSTALL_MS_MAX = 300_000;
const POLL_MS = 250;
const BEAT_MS = 2_000;
/** A lock that was not touched for this long is of a process that is gone. */
const STALE_MS = 20_000;
const OUTPUT_KEPT_CHARACTERS = 3_000;

/**
 * Installs the packages of the package-lock.json in a folder when they are not there. Safe to call from several
 * processes at once: one installs, the others wait.
 * @throws Error that says what npm said and what to do about it
 */
export async function installPackages(folder: URL): Promise<void> {
  const extra: Extra = {
    folder,
    wanted: new URL("package-lock.json", folder),
    installed: new URL("node_modules/.package-lock.json", folder),
    lock: new URL(".installing/", folder),
  };
  const deadline = Date.now() + INSTALL_MS_MAX;
  while (!(await isInstalled(extra))) {
    if (Date.now() > deadline)
      throw failure(extra, "another test file did not finish installing them");
    if (await takeLock(extra)) {
      const beat = setInterval(() => void touch(extra), BEAT_MS);
      try {
        if (!(await isInstalled(extra))) await install(extra, deadline - Date.now());
      } finally {
        clearInterval(beat);
        await rm(extra.lock, { recursive: true, force: true });
      }
    } else await delay(POLL_MS);
  }
}

interface LockFile {
  readonly packages: Readonly<
    Record<string, { readonly version?: string; readonly optional?: boolean }>
  >;
}

/** Undefined while there is none, or while npm is writing it. */
async function readLock(file: URL): Promise<LockFile | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as LockFile;
  } catch {
    return undefined;
  }
}

async function isInstalled(extra: Extra): Promise<boolean> {
  const [wanted, installed] = await Promise.all([
    readLock(extra.wanted),
    readLock(extra.installed),
  ]);
  if (wanted === undefined) throw failure(extra, "there is no readable package-lock.json");
  return Object.entries(wanted.packages).every(([path, { version, optional }]) => {
    // The first entry is the folder itself; of the binaries for other machines none is installed.
    if (path === "") return true;
    const found = installed?.packages[path];
    return found === undefined ? optional === true : found.version === version;
  });
}

/** Making a folder is the one step that exactly one process succeeds with. */
async function takeLock({ lock }: Extra): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch {
    const found = await stat(lock).catch(() => undefined);
    const isStale = found !== undefined && Date.now() - found.mtimeMs > STALE_MS;
    if (isStale) await rm(lock, { recursive: true, force: true });
    return false;
  }
}

async function touch({ lock }: Extra): Promise<void> {
  const now = new Date();
  await utimes(lock, now, now).catch(() => undefined);
}

async function install(extra: Extra, timeoutMs: number): Promise<void> {
  const { code, output } = await runNpm(
    extra,
    // No install script is needed: what is native comes as a binary.
    ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--omit-lockfile-registry-resolved"],
    timeoutMs,
  );
  if (code !== 0) throw failure(extra, `npm ci ended with ${code}:\n${output}`);
  if (!(await isInstalled(extra))) throw failure(extra, `npm ci left something out:\n${output}`);
}

async function runNpm(
  { folder }: Extra,
  args: readonly string[],
  timeoutMs: number,
): Promise<{ readonly code: number | string; readonly output: string }> {
  const script = process.env["npm_execpath"];
  // Under `npm test` the very npm that runs it, on this Node; else the one on the path.
  const [command, before] =
    script?.endsWith(".js") === true ? [process.execPath, [script]] : ["npm", []];
  const child = spawn(command, [...before, ...args], {
    cwd: fileURLToPath(folder),
    stdio: ["ignore", "pipe", "pipe"],
    timeout: timeoutMs,
  });
  let output = "";
  const collect = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-OUTPUT_KEPT_CHARACTERS);
  };
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  const { promise, resolve } = Promise.withResolvers<number | string>();
  child.once("error", (error) => resolve(error.message));
  child.once("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
  return { code: await promise, output };
}

function failure({ folder }: Extra, reason: string): Error {
  return new Error(
    `Packages that only tests need could not be installed in ${fileURLToPath(folder)}. They come from the npm registry; \`npm ci\` in that folder installs them by hand.\n${reason}`,
  );
}

// `.ci/run` has everything installed while checks run that need none of it.
if (import.meta.main) {
  const folders = process.argv.slice(2).map((folder) => pathToFileURL(`${folder}/`));
  await Promise.all(folders.map(installPackages));
}
