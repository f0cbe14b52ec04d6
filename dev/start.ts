import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { announce } from "./announce.ts";
import { ApiRefusal } from "./api-client.ts";
import { startLocalAzurite } from "./azurite.ts";
import { openDemo } from "./demo.ts";
import type { Demo, DemoOptions } from "./demo.ts";
import { startHostProcess } from "./host-process.ts";
import { startIssuer } from "./issuer.ts";
import { holderOf, holdLocalFolder, localFolder } from "./local-folder.ts";
import { hostEnvironment } from "./local-settings.ts";
import type { Pieces } from "./local-settings.ts";
import { startMailServer } from "./mail-server.ts";
import { Mailbox } from "../sandbox/mailbox.ts";
import { startSandbox } from "../sandbox/server.ts";
import type { Sandbox } from "../sandbox/server.ts";
import type { SandboxNetwork } from "../sandbox/network.ts";
import { PORT_SETTINGS, readPorts, refuseTakenPorts } from "./ports.ts";
import type { Ports } from "./ports.ts";
import { readRunbook } from "./runbook.ts";
import { isBuildCurrent } from "../tools/build-stamp.ts";
import { terminalLine } from "./terminal-lines.ts";
import { bad } from "./terminal-style.ts";

const LOGIN_ORIGIN = "https://login.sandbox.test";
const AUDIENCE = "api://publishing-relay";
const OPERATOR_TOKEN_SECONDS = 30 * 24 * 3600;
/** Long enough for a slow machine. */
const BUILD_MS_MAX = 180_000;
const HEALTH_POLL_MS = 100;
const HEALTH_CALL_MS = 5_000;
const HEALTH_MS = 60_000;
/** npm passes the terminal's Ctrl-C on, so that it comes twice: a signal this soon after the first is the same one. */
const SAME_SIGNAL_MS = 1_000;
const CHILD_END_MS = 500;

const execute = promisify(execFile);

/** Everything that runs, oldest first, and the one reason why it all ends. */
class Run {
  readonly #pieces: { stop(): Promise<void> }[] = [];
  readonly #ending = new AbortController();

  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  add<Piece extends { stop(): Promise<void> }>(piece: Piece): Piece {
    this.#pieces.push(piece);
    return piece;
  }

  /** Without a problem: somebody asked for it. Only the first reason counts. */
  end(problem?: string): void {
    if (!this.ending.aborted) this.#ending.abort(problem);
  }

  /** The last one first: what the others need goes last. */
  async stopAll(): Promise<void> {
    for (const piece of this.#pieces.toReversed()) {
      try {
        await piece.stop();
      } catch (error) {
        console.error(messageOf(error));
      }
    }
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

interface Options {
  readonly ports: Ports;
  readonly local: string;
  /** Somebody else runs the host, `func start` for one. */
  readonly hasOwnHost: boolean;
}

function readOptions(): Options {
  const { values } = parseArgs({ options: { "no-host": { type: "boolean", default: false } } });
  return { ports: readPorts(), local: localFolder(), hasOwnHost: !values["no-host"] };
}

async function startPieces(run: Run, { ports, local }: Options) {
  const azurite = run.add(await startLocalAzurite());
  void azurite.ended.then(() =>
    run.end(`Azurite has ended; ${join(local, "azurite", "azurite.log")} may tell why`),
  );
  run.ending.throwIfAborted();
  const mailbox = new Mailbox();
  const mail = run.add(await startMailServer(mailbox, ports.SMTP_PORT));
  const sandbox = run.add(
    await startSandbox({ port: ports.SANDBOX_PORT, state: join(local, "sandbox"), mailbox }),
  );
  const issuer = run.add(
    await startIssuer({
      port: ports.ISSUER_PORT,
      keys: join(local, "issuer"),
      publicOrigin: LOGIN_ORIGIN,
    }),
  );
  const pieces: Pieces = {
    publicBaseUrl: `http://localhost:${ports.PORT}/api`,
    connectionString: azurite.connectionString,
    sandbox,
    mail,
    issuer: { ...issuer, audience: AUDIENCE },
  };
  return { pieces, sandbox, issuer };
}

async function isHealthy(baseUrl: string): Promise<boolean> {
  try {
    const answer = await fetch(`${baseUrl}/health`, {
      signal: AbortSignal.timeout(HEALTH_CALL_MS),
    });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}

async function untilHealthy(run: Run, baseUrl: string, longestMs: number): Promise<void> {
  const deadline = Date.now() + longestMs;
  while (!(await isHealthy(baseUrl))) {
    run.ending.throwIfAborted();
    if (Date.now() > deadline) throw new Error(`${baseUrl}/health does not answer`);
    await wait(HEALTH_POLL_MS);
  }
}

/** Shows what happens, line by line; with VERBOSE everything that the host says. */
function lineShower(sandbox: Sandbox): (line: string, stream: "stdout" | "stderr") => void {
  if ((process.env["VERBOSE"] ?? "") !== "")
    return (line, stream) => process[stream].write(`${line}\n`);
  const sandboxNetworks: readonly SandboxNetwork[] = Object.values(sandbox.networks);
  const surroundings = {
    posts: () => sandbox.posts(),
    usernameOf: (network: string, accountId: string) =>
      sandboxNetworks.find(({ name }) => name === network)?.usernameOf(accountId),
    pageOf: ({ page }: { readonly page: string }) => sandbox.url + page,
    advice: readRunbook(),
  };
  return (line, stream) => {
    const shown = terminalLine(line, stream, surroundings);
    if (shown !== undefined) process[stream].write(`${shown}\n`);
  };
}

/** Builds in a process of its own, so that nothing of the bundler stays in memory. */
async function buildInChild(): Promise<void> {
  const program = fileURLToPath(new URL("../tools/build.ts", import.meta.url));
  await execute(process.execPath, [program], { timeout: BUILD_MS_MAX });
}

/** Starts everything and shows it. */
async function bringUp(run: Run, options: Options): Promise<void> {
  const { ports, local, hasOwnHost } = options;
  const holder = holderOf(local);
  await refuseTakenPorts(
    ports,
    PORT_SETTINGS.filter((setting) => hasOwnHost || setting !== "PORT"),
    holder === undefined ? "" : `LOCAL_FOLDER=${local}2`,
  );
  if (holder !== undefined)
    throw new Error(
      `npm start already runs with the data in ${local} (process ${holder}). Stop it, or give this one data of its own: LOCAL_FOLDER=${local}2`,
    );
  mkdirSync(local, { recursive: true });
  run.add(holdLocalFolder(local));
  const startedAt = performance.now();
  const showStep = (step: string) =>
    console.log(
      `${String(Math.round((performance.now() - startedAt) / 1000)).padStart(3)} s  ${step} …`,
    );
  const isBuildNeeded = hasOwnHost && !isBuildCurrent(process.cwd());
  showStep(
    isBuildNeeded
      ? "Building the relay; starting storage, the sandbox's networks and a mailbox"
      : "Starting storage, the sandbox's networks and a mailbox",
  );
  const [{ pieces, sandbox, issuer }] = await Promise.all([
    startPieces(run, options),
    isBuildNeeded ? buildInChild() : undefined,
  ]);
  const baseUrl = pieces.publicBaseUrl;
  const environment = hostEnvironment(pieces, process.env);
  const hostLog = join(local, "host.log");
  run.ending.throwIfAborted();
  if (hasOwnHost) {
    showStep("Starting the API");
    const output = { logFile: hostLog, onLine: lineShower(sandbox) };
    const host = run.add(startHostProcess({ ...environment, PORT: String(ports.PORT) }, output));
    void host.ended.then((problem) => run.end(problem));
  } else console.log(`Everything but the host is up. Waiting for one at ${baseUrl} …`);
  await untilHealthy(run, baseUrl, hasOwnHost ? HEALTH_MS : Infinity);
  showStep("Preparing the demo customer and its accounts");
  const operatorToken = await issuer.token({
    roles: ["Admin"],
    audience: environment["OPERATOR_AUDIENCE"]?.trim().split(/\s+/)[0] ?? AUDIENCE,
    expiresIn: OPERATOR_TOKEN_SECONDS,
  });
  const demoFile = join(local, "demo.json");
  const demo = await demoOrWhyNot({
    baseUrl,
    sandboxUrl: sandbox.url,
    operatorToken,
    file: demoFile,
  });
  if (demo === undefined) console.log(`The API is at ${baseUrl}. Ctrl-C stops everything.`);
  else {
    sandbox.connectUrl = demo.connectUrl;
    const { apiKey, profileId, applicationId } = demo;
    sandbox.referenceUrl = `${baseUrl}/docs#demo=${apiKey},${profileId},${applicationId},createPost`;
    const connectUrl = `${sandbox.url}/connect`;
    const curlFile = join(local, "demo.curl");
    sandbox.customer = { ...demo, curlFile };
    announce({ demo, connectUrl, demoFile, curlFile });
  }
}

/** A developer's own settings may rule the demo out (no sign-up, other operators): everything else is of use without it. */
async function demoOrWhyNot(options: DemoOptions): Promise<Demo | undefined> {
  try {
    return await openDemo(options);
  } catch (error) {
    if (!(error instanceof ApiRefusal) || error.status >= 500) throw error;
    console.error(`The demo could not be made: ${error.message}`);
    return undefined;
  }
}

function endOnSignals(run: Run): void {
  let firstAt = 0;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => {
      // Children end with this process, however it goes.
      if (run.ending.aborted && Date.now() - firstAt > SAME_SIGNAL_MS) process.exit(1);
      if (firstAt === 0) {
        firstAt = Date.now();
        console.log("\nStopping …");
      }
      run.end();
    });
}

async function main(): Promise<number> {
  const run = new Run();
  endOnSignals(run);
  process.on("uncaughtException", (error) => run.end(error.stack ?? error.message));
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  run.ending.addEventListener("abort", () => resolve());
  try {
    await bringUp(run, readOptions());
  } catch (error) {
    // When a child went, what fails here is a consequence: its end is the better reason.
    await Promise.race([ended, wait(CHILD_END_MS)]);
    run.end(messageOf(error));
  }
  await ended;
  const problem: unknown = run.ending.reason;
  if (typeof problem === "string") console.error(bad(problem));
  await run.stopAll();
  if (typeof problem !== "string") console.log("Stopped.");
  return typeof problem === "string" ? 1 : 0;
}

if (import.meta.main) process.exit(await main());
