import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { DEMO_NETWORKS } from "../../dev/demo.ts";
import { kill, newPlace, readDemo, start, until } from "../process/start/started.ts";
import type { Place, Started } from "../process/start/started.ts";
import { VECTOR } from "../webhooks/vector.ts";
import { outputOf } from "../setup/child-output.ts";
import { freePort } from "../setup/free-ports.ts";
import { DOCUMENTS, blocksOf, treatmentOf, type Block } from "./blocks.ts";

const START_TIMEOUT_MS = 180_000;
const DOCUMENT_MS = 180_000;
const POLL_MS = 500;
const run = promisify(execFile);

const missing = ["bash", "curl", "openssl", "python3"].filter(
  (command) =>
    spawnSync(command, [command === "openssl" ? "version" : "--version"], { stdio: "ignore" })
      .status !== 0,
);
const without = missing.length === 0 ? "" : ` (skipped: there is no ${missing.join(", no ")} here)`;

const isShell = (block: Block) => treatmentOf(block).kind === "shell";
const documents = DOCUMENTS.filter((file) => blocksOf(file).some(isShell));

/** What a block printed, and the example of an answer that follows it. */
interface Printed {
  readonly block: Block;
  readonly output: string;
  readonly example: Block | undefined;
}

/** Times, ids and addresses, which differ from run to run. */
const CHANGING = /\b\d\d:\d\d:\d\d\b|\b[a-z]{3}_[0-9A-Z]{26}\b|https?:\S+/g;
const linesOf = (text: string) =>
  text.split("\n").flatMap((line) => {
    const fixed = line.replace(CHANGING, "…").trim();
    return fixed === "" ? [] : [fixed];
  });

/** Runs a document's blocks that go on while the others run, in terminals of their own. */
async function openTerminals(file: string, place: Place) {
  const terminals: (() => string)[] = [];
  for (const { code } of blocksOf(file).filter(({ isBeside }) => isBeside)) {
    const port = String(await freePort());
    const child = spawn("bash", ["-c", code], {
      env: { ...process.env, LOCAL_FOLDER: place.folder, LISTEN_PORT: port },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const output = outputOf(child);
    const close = () => process.kill(-(child.pid ?? 0), "SIGKILL");
    onTestFinished(() => void (child.exitCode === null && close()));
    await until(() => output().includes("Listening"), DOCUMENT_MS);
    terminals.push(output);
  }
  return () => terminals.map((output) => output()).join("\n");
}

/** All of a document's blocks in one shell, as a reader pastes them one after the other. */
async function runDocument(file: string, place: Place, backend: string): Promise<Printed[]> {
  const { baseUrl, sandboxUrl } = readDemo(place);
  const blocks = blocksOf(file);
  const shell = blocks.filter((block) => isShell(block) && !block.isBeside);
  const script = shell
    .map(({ code, line }) => `printf '\\n::${line}::\\n'\n${code}`)
    .join("\n")
    .replaceAll(".local/demo.", join(place.folder, "demo."))
    .replaceAll("http://localhost:7071/api", baseUrl)
    .replaceAll("http://127.0.0.1:7072", sandboxUrl)
    .replaceAll("http://localhost:3000", backend);
  const { stdout } = await run("bash", ["-euo", "pipefail", "-c", script], {
    timeout: DOCUMENT_MS,
    env: { ...process.env, RELAY_DEMO: join(place.folder, "demo.json") },
  });
  const outputs = stdout.split(/^::\d+::$/m).slice(1);
  return shell.map((block, index) => {
    const next = blocks[blocks.indexOf(block) + 1];
    const example = next !== undefined && treatmentOf(next).kind === "json" ? next : undefined;
    return { block, output: (outputs[index] ?? "").trim(), example };
  });
}

/** A block that only sets names and functions for those behind it ends with one. */
const isSilent = ({ code }: Block) => /(?:^|\n)(?:\}|\w+=[^\n]*(?:\n +[^\n]*)*)\s*$/.test(code);

/** Fields of the example that the answer does not have, or has with another type. */
function differences(example: unknown, answer: unknown, path = ""): string[] {
  if (example === null || answer === null) return [];
  if (Array.isArray(example) && Array.isArray(answer))
    return example
      .slice(0, answer.length)
      .flatMap((item: unknown, index) => differences(item, answer[index], `${path}[${index}]`));
  if (typeof example !== typeof answer || Array.isArray(example) !== Array.isArray(answer))
    return [`${path}: ${typeof answer} instead of ${typeof example}`];
  if (typeof example !== "object" || typeof answer !== "object") return [];
  const given = answer as Readonly<Record<string, unknown>>;
  return Object.entries(example).flatMap(([name, value]) =>
    name in given
      ? differences(value, given[name], `${path}.${name}`)
      : [`${path}.${name}: absent`],
  );
}

/** The entry of a list that is of the example's network. */
function likeIn(answer: unknown, { platform }: { readonly platform?: string }): unknown {
  if (!Array.isArray(answer)) return answer;
  const entries = answer as readonly { readonly platform?: string }[];
  return entries.find((entry) => entry.platform === platform);
}

function lastAnswer(output: string): unknown {
  const line = output.split("\n").findLast((text) => text.startsWith('{"data":')) ?? "{}";
  return (JSON.parse(line) as { data?: unknown }).data;
}

describe.skipIf(missing.length > 0)(`with what npm start runs${without}`, () => {
  let place: Place;
  let started: Started;
  /** A program that takes each delivery, and where it listens. */
  let program: Server;
  let backend: string;

  beforeAll(async () => {
    place = await newPlace();
    program = createServer((_request, response) => response.writeHead(204).end());
    await once(program.listen(0, "127.0.0.1"), "listening");
    backend = `http://localhost:${(program.address() as AddressInfo).port}`;
    started = await start(place);
  }, START_TIMEOUT_MS);

  afterAll(async () => {
    program.close();
    program.closeAllConnections();
    await kill(started, place);
    await place.remove();
  }, START_TIMEOUT_MS);

  test.each(documents)(
    "the shell blocks of %s work, one after the other",
    async (file) => {
      const beside = await openTerminals(file, place);
      const printed = await runDocument(file, place, backend);
      for (const { block, output, example } of printed) {
        const name = `${file}:${block.line}`;
        expect(output, name).not.toMatch(/(?:^|\})\{"error":/m);
        // A command whose answer was an error may leave nothing for the next one in its line.
        if (!isSilent(block)) expect(output, `${name} prints nothing`).not.toBe("");
        if (example === undefined || example.words.length === 0) continue;
        const shown = JSON.parse(example.code) as { data?: unknown; platform?: string };
        expect(differences(shown.data ?? shown, likeIn(lastAnswer(output), shown)), name).toEqual(
          [],
        );
      }
      const output = () => linesOf([beside(), ...printed.map((one) => one.output)].join("\n"));
      const shown = blocksOf(file).filter((block) => treatmentOf(block).kind === "output");
      for (const line of shown.flatMap(({ code }) => linesOf(code)))
        await expect.poll(output, { message: file }).toContain(line);
    },
    DOCUMENT_MS,
  );

  test("the endpoint of the webhook guide gets its test event", async () => {
    const { baseUrl, apiKey } = readDemo(place);
    const headers = { authorization: `Bearer ${apiKey}` };
    const list = async (path: string) => {
      const answer = await fetch(`${baseUrl}/v1/webhooks${path}`, { headers });
      return ((await answer.json()) as { data: { id: string; status: string }[] }).data;
    };
    const [endpoint] = await list("");
    const deliveries = () => list(`/${endpoint?.id}/deliveries?eventType=webhook.test`);
    await until(async () => (await deliveries())[0]?.status === "succeeded", DOCUMENT_MS, POLL_MS);
    expect(await deliveries()).toHaveLength(1);
  });

  test(
    "the first post of the guide reaches all five networks",
    async () => {
      const { sandboxUrl } = readDemo(place);
      const reached = async () => {
        const answer = await fetch(`${sandboxUrl}/_sandbox/posts`);
        const { posts } = (await answer.json()) as { posts: { network: string; text: string }[] };
        const ours = posts.filter(({ text }) => text.startsWith("Fresh bread at "));
        return ours.map(({ network }) => network).sort();
      };
      // The guide waits for a minute; a busy machine may need longer.
      await until(
        async () => (await reached()).length >= DEMO_NETWORKS.length,
        DOCUMENT_MS,
        POLL_MS,
      );
      expect(await reached()).toEqual(DEMO_NETWORKS.toSorted());
    },
    DOCUMENT_MS,
  );
});

test.skipIf(missing.length > 0)(
  `the webhook guide's curl sends a delivery as the relay does${without}`,
  async () => {
    const received: { body: string; signature: unknown }[] = [];
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        received.push({ body, signature: request.headers["x-social-restapi-signature"] });
        response.end();
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const section = readFileSync("docs/webhooks.md", "utf8").split("\n### Shell\n")[1] ?? "";
    const script = [...(section.split("\n### ")[0] ?? "").matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
      .map(([, code = ""]) => code.replace("localhost:3000", `127.0.0.1:${port}`))
      .join("");
    await run("bash", ["-euo", "pipefail", "-c", script], { timeout: DOCUMENT_MS });
    const signature = `t=${VECTOR.timestamp},v1=${VECTOR.v1}`;
    expect(received).toEqual([{ body: VECTOR.body, signature }]);
  },
);
