import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { END_WITH_PARENT } from "../../../dev/end-with-parent.ts";
import { INSTALL_MS_MAX, installPackages } from "../../setup/install-packages.ts";

const START_MS_MAX = 120_000;
const CALL_MS_MAX = 60_000;
const OUTPUT_KEPT_CHARACTERS = 8_000;

/** For the hook that calls `startPds`: the very first start installs the packages. */
export const PDS_START_MS_MAX = INSTALL_MS_MAX + START_MS_MAX;

export interface PdsAccount {
  readonly did: string;
  readonly handle: string;
  /** The owner's own, for the server's login page. */
  readonly password: string;
  /** Session of the owner's own login, which may do what an app password may not. */
  readonly accessJwt: string;
}

interface AppPassword {
  readonly name: string;
  readonly password: string;
}

/** An answer of the server: what it says is for the test to judge. */
interface XrpcAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

interface XrpcCall {
  readonly token?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Makes it a POST. */
  readonly input?: object;
}

export interface Pds {
  /** The name in the accounts' DID documents; reached by mapping it to `url`. */
  readonly hostname: string;
  readonly url: string;
  /** What the server calls itself. */
  readonly publicUrl: string;
  /** The PLC directory that the server writes its accounts to. */
  readonly directoryUrl: string;
  createAccount(handle: string): Promise<PdsAccount>;
  createAppPassword(account: PdsAccount, name: string): Promise<AppPassword>;
  revokeAppPassword(account: PdsAccount, name: string): Promise<void>;
  xrpc(method: string, call?: XrpcCall): Promise<XrpcAnswer>;
  /** The bytes of a blob, as any reader of the network gets them. */
  blob(did: string, cid: string): Promise<Uint8Array>;
  /** Puts the server's clock forward. */
  advance(milliseconds: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the reference implementation of an AT Protocol server on free loopback ports, with nothing in it. */
export async function startPds(options: { readonly hostname: string }): Promise<Pds> {
  await installPackages(new URL(".", import.meta.url));
  const { hostname } = options;
  const folder = await mkdtemp(join(tmpdir(), "pds-"));
  const script = fileURLToPath(new URL("pds-process.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", END_WITH_PARENT, script, folder, hostname], {
    stdio: ["pipe", "pipe", "pipe", "ipc"],
    env: { PATH: process.env["PATH"], NODE_ENV: "production" },
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const closed = once(child, "close");
      // Nothing in it is to be kept, and its own way out waits for idle connections.
      child.kill("SIGKILL");
      await closed;
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const { pds, directory } = await addresses(child);
    const publicUrl =
      hostname === "localhost" ? pds.replace("127.0.0.1", hostname) : `https://${hostname}`;
    const advance = async (milliseconds: number): Promise<void> => {
      const done = once(child, "message", { signal: AbortSignal.timeout(CALL_MS_MAX) });
      child.send(milliseconds);
      await done;
    };
    const addressed = { hostname, url: pds, publicUrl, directoryUrl: directory };
    return { ...addressed, ...callsOf(pds), advance, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function addresses(child: ChildProcess): Promise<{ pds: string; directory: string }> {
  let output = "";
  const { promise, resolve, reject } = Promise.withResolvers<{ pds: string; directory: string }>();
  const collect = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-OUTPUT_KEPT_CHARACTERS);
    const line = /^peers listen (\{.*\})$/m.exec(output)?.[1];
    if (line !== undefined) resolve(JSON.parse(line) as { pds: string; directory: string });
  };
  child.stdout?.on("data", collect);
  child.stderr?.on("data", collect);
  const fail = (what: string) => reject(new Error(`the AT Protocol server ${what}:\n${output}`));
  child.once("error", reject);
  child.once("close", (code, signal) => fail(`ended with ${code ?? signal}`));
  const timer = setTimeout(() => fail(`did not start in ${START_MS_MAX / 1000} s`), START_MS_MAX);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

type Calls = Omit<Pds, "hostname" | "url" | "publicUrl" | "directoryUrl" | "advance" | "stop">;

function callsOf(url: string): Calls {
  const xrpc = (method: string, call: XrpcCall = {}) => xrpcCall(url, method, call);
  const must = async (method: string, call: XrpcCall) => {
    const { status, body } = await xrpc(method, call);
    if (status === 200) return body;
    throw new Error(`${method} was answered with ${status}: ${JSON.stringify(body)}`);
  };
  return {
    xrpc,
    async createAccount(handle) {
      const password = randomBytes(12).toString("hex");
      const input = { handle, password, email: `${handle.replace(/\W/g, "-")}@example.test` };
      const made = await must("com.atproto.server.createAccount", { input });
      return { handle, password, did: String(made["did"]), accessJwt: String(made["accessJwt"]) };
    },
    async createAppPassword({ accessJwt }, name) {
      const call = { token: accessJwt, input: { name } };
      const made = await must("com.atproto.server.createAppPassword", call);
      return { name, password: String(made["password"]) };
    },
    async revokeAppPassword({ accessJwt }, name) {
      await must("com.atproto.server.revokeAppPassword", { token: accessJwt, input: { name } });
    },
    async blob(did, cid) {
      const query = new URLSearchParams({ did, cid }).toString();
      const answer = await fetch(`${url}/xrpc/com.atproto.sync.getBlob?${query}`, {
        signal: AbortSignal.timeout(CALL_MS_MAX),
      });
      if (!answer.ok) throw new Error(`the blob was answered with ${answer.status}`);
      return new Uint8Array(await answer.arrayBuffer());
    },
  };
}

async function xrpcCall(
  url: string,
  method: string,
  { token, query = {}, input }: XrpcCall,
): Promise<XrpcAnswer> {
  const answer = await fetch(`${url}/xrpc/${method}?${new URLSearchParams(query).toString()}`, {
    method: input === undefined ? "GET" : "POST",
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(input === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(input === undefined ? {} : { body: JSON.stringify(input) }),
    signal: AbortSignal.timeout(CALL_MS_MAX),
  });
  const text = await answer.text();
  const body = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
  return { status: answer.status, body };
}
