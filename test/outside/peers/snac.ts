import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../../setup/free-ports.ts";

const START_MS_MAX = 120_000;
const POLL_MS = 50;

/** The server's program, of Debian's package `snac2`; `SNAC_BIN` names one that lies elsewhere, as `.ci/run` fetches it. */
const PROGRAM = process.env["SNAC_BIN"] ?? "snac";
const said = spawnSync(PROGRAM, { encoding: "utf8" });
/** Whether the program is here and can run. */
export const hasSnac = said.error === undefined;

/** Whether it takes posts down: version 2.75 of Debian 13 does not yet. */
export const snacRemoves = hasSnac && Number(/^snac 2\.(\d+)/m.exec(said.stdout)?.[1] ?? 0) >= 96;

/** A post as the server has stored it. */
interface StoredPost {
  readonly content: string;
  /** Whether everybody may read it. */
  readonly isPublic: boolean;
  /** The addresses of its files. */
  readonly files: readonly string[];
}

export interface Snac {
  readonly url: string;
  readonly user: string;
  readonly password: string;
  /** The posts whose text has these words, as they lie on the server's disk: what its lists don't show is there too. */
  postsWith(words: string): Promise<readonly StoredPost[]>;
  stop(): Promise<void>;
}

/** Runs one of the program's commands with answers to its questions, and returns what it says. */
function run(command: string, folder: string, answers: readonly string[]): string {
  const asked = spawnSync(PROGRAM, [command, folder], { input: `${answers.join("\n")}\n` });
  if (asked.status !== 0) throw new Error(`snac ${command} failed: ${String(asked.stderr)}`);
  return String(asked.stdout);
}

/** Makes a server under a name with one user, and starts it on a free loopback port. */
export async function startSnac(host: string): Promise<Snac> {
  const root = await mkdtemp(join(tmpdir(), "snac-"));
  const folder = join(root, "data");
  const port = await freePort();
  run("init", folder, ["127.0.0.1", String(port), host, "", ""]);
  const made = run("adduser", folder, ["baker", "The Baker"]);
  const password = /^User password is (\S+)$/m.exec(made)?.[1];
  if (password === undefined) throw new Error(`snac told no password: ${made}`);
  const child = spawn(PROGRAM, ["httpd", folder], { stdio: "ignore" });
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const closed = once(child, "close");
      child.kill("SIGKILL");
      await closed;
    }
    await rm(root, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await answering(`${url}/.well-known/nodeinfo`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, user: "baker", password, postsWith: (words) => postsWith(folder, words), stop };
}

async function answering(url: string): Promise<void> {
  const deadline = Date.now() + START_MS_MAX;
  while (Date.now() < deadline) {
    const isThere = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isThere) return;
    await delay(POLL_MS);
  }
  throw new Error(`snac did not answer in ${START_MS_MAX / 1000} s`);
}

interface StoredObject {
  readonly type?: string;
  readonly content?: string;
  readonly to?: readonly string[] | string;
  readonly cc?: readonly string[] | string;
  readonly attachment?: readonly { readonly url: string }[];
}

const PUBLIC = "https://www.w3.org/ns/activitystreams#Public";

async function postsWith(folder: string, words: string): Promise<readonly StoredPost[]> {
  const objects = join(folder, "object");
  const names = await readdir(objects, { recursive: true });
  const texts = await Promise.all(
    names
      .filter((name) => name.endsWith(".json"))
      .map(async (name) => await readFile(join(objects, name), "utf8")),
  );
  return texts
    .map((text) => JSON.parse(text) as StoredObject)
    .filter(({ type, content = "" }) => type === "Note" && content.includes(words))
    .map(({ content = "", to = [], cc = [], attachment = [] }) => ({
      content,
      isPublic: [to, cc].flat(2).includes(PUBLIC),
      files: attachment.map(({ url }) => url),
    }));
}
