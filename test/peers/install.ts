import { spawn } from "node:child_process";
import { mkdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { setTimeout as delay } from "node:timers/promises";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));
const WANTED = new URL("package-lock.json", import.meta.url);
/** What npm writes last of all, of what it installed. */
const INSTALLED = new URL("node_modules/.package-lock.json", import.meta.url);
/** Outside `node_modules`, which npm removes. Made by one of several test files at a time. */
const LOCK = new URL(".installing/", import.meta.url);

/** How long everything may take; a test file's hook must wait longer. */
export const INSTALL_MS_MAX = 300_000;
const POLL_MS = 250;
const BEAT_MS = 2_000;
/** A lock that was not touched for this long is of a process that is gone. */
const STALE_MS = 20_000;
const OUTPUT_KEPT_CHARACTERS = 3_000;

/**
 * Installs the peers of package-lock.json beside this file when they are not there. Safe to call from several processes
 * at once: one installs, the others wait.
 * @throws Error that says what npm said and what to do about it
 */
export async function installPeers(): Promise<void> {
  const deadline = Date.now() + INSTALL_MS_MAX;
  while (!(await isInstalled())) {
    if (Date.now() > deadline) throw failure("another test file did not finish installing them");
    if (await takeLock()) {
      const beat = setInterval(() => void touch(), BEAT_MS);
      try {
        if (!(await isInstalled())) await install(deadline - Date.now());
      } finally {
        clearInterval(beat);
        await rm(LOCK, { recursive: true, force: true });
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

async function isInstalled(): Promise<boolean> {
  const [wanted, installed] = await Promise.all([readLock(WANTED), readLock(INSTALLED)]);
  if (wanted === undefined) throw failure("there is no readable package-lock.json");
  return Object.entries(wanted.packages).every(([path, { version, optional }]) => {
    // The first entry is the folder itself; of the binaries for other machines none is installed.
    if (path === "") return true;
    const found = installed?.packages[path];
    return found === undefined ? optional === true : found.version === version;
  });
}

/** Making a folder is the one step that exactly one process succeeds with. */
async function takeLock(): Promise<boolean> {
  try {
    await mkdir(LOCK);
    return true;
  } catch {
    const found = await stat(LOCK).catch(() => undefined);
    const isStale = found !== undefined && Date.now() - found.mtimeMs > STALE_MS;
    if (isStale) await rm(LOCK, { recursive: true, force: true });
    return false;
  }
}

async function touch(): Promise<void> {
  const now = new Date();
  await utimes(LOCK, now, now).catch(() => undefined);
}

async function install(timeoutMs: number): Promise<void> {
  const { code, output } = await runNpm(
    // No install script is needed: what is native comes as a binary.
    ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--omit-lockfile-registry-resolved"],
    timeoutMs,
  );
  if (code !== 0) throw failure(`npm ci ended with ${code}:\n${output}`);
  if (!(await isInstalled())) throw failure(`npm ci left something out:\n${output}`);
}

async function runNpm(
  args: readonly string[],
  timeoutMs: number,
): Promise<{ readonly code: number | string; readonly output: string }> {
  const script = process.env["npm_execpath"];
  // Under `npm test` the very npm that runs it, on this Node; else the one on the path.
  const [command, before] =
    script?.endsWith(".js") === true ? [process.execPath, [script]] : ["npm", []];
  const child = spawn(command, [...before, ...args], {
    cwd: FOLDER,
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

function failure(reason: string): Error {
  return new Error(
    `The real servers of the test suite could not be installed in test/peers. They come from the npm registry; \`npm ci\` in that folder installs them by hand.\n${reason}`,
  );
}
