import { execFile } from "node:child_process";
import { copyFile, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startSandbox, type Sandbox } from "../../../sandbox/server.ts";
import { aPublisher } from "../../setup/publisher.ts";
import { serveRelay, type RelayServer } from "../../setup/relay-server.ts";
import { startRelay, type Relay } from "../../setup/relay.ts";
import { sandboxSettings } from "../../setup/sandbox-accounts.ts";
import { toolsFolder, TOOLS_MS_MAX } from "./document-lint.ts";

/** As much of the generator as is used: its own types are only there once it is installed. */
interface Generator {
  default(document: unknown): Promise<unknown>;
  astToString(tree: unknown): string;
}

const COMPILER_OPTIONS = {
  strict: true,
  noEmit: true,
  target: "es2023",
  lib: ["es2023", "dom"],
  module: "nodenext",
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  exactOptionalPropertyTypes: true,
  typeRoots: [fileURLToPath(new URL("../../../node_modules/@types", import.meta.url))],
  types: ["node"],
};

const run = promisify(execFile);
let sandbox: Sandbox;
let relay: Relay;
let server: RelayServer;
let tools: URL;
/** A customer's project: the generated client, a program that uses it, and its packages. */
let project: string;

beforeAll(async () => {
  tools = await toolsFolder();
  sandbox = await startSandbox();
  relay = await startRelay({
    settings: sandboxSettings(sandbox, sandbox.url),
  });
  server = await serveRelay(relay);
  project = await mkdtemp(join(tmpdir(), "generated-client-"));
  const generator = (await import(
    new URL("openapi-typescript/dist/index.mjs", tools).href
  )) as Generator;
  const document: unknown = await (await fetch(`${server.baseUrl}/v1/openapi.json`)).json();
  const client = generator.astToString(await generator.default(document));
  await writeFile(join(project, "api.ts"), client);
  await copyFile(new URL("../customer.ts", tools), join(project, "customer.ts"));
  await writeFile(join(project, "package.json"), JSON.stringify({ type: "module" }));
  const config = { compilerOptions: COMPILER_OPTIONS, files: ["customer.ts"] };
  await writeFile(join(project, "tsconfig.json"), JSON.stringify(config));
  await symlink(fileURLToPath(tools), join(project, "node_modules"));
}, TOOLS_MS_MAX);

afterAll(async () => {
  await server.close();
  await relay.stop();
  await sandbox.stop();
  await rm(project, { recursive: true, force: true });
});

test("a program against the generated client compiles, and its mistakes do not", async () => {
  const compiler = fileURLToPath(new URL("typescript/bin/tsc", tools));
  const compiled = run(process.execPath, [compiler, "-p", project], { cwd: project });
  await expect(compiled.catch((error: { stdout?: string }) => error.stdout)).resolves.toEqual({
    stdout: "",
    stderr: "",
  });
}, 180_000);

test("the program signs up, sets up, pages, publishes and understands errors", async () => {
  const publisher = await aPublisher(relay);
  const setup = {
    baseUrl: server.baseUrl,
    operatorToken: await relay.issuer.token({ roles: ["Admin"] }, relay.clock.now()),
    publisher: { key: publisher.key, profileId: publisher.profileId },
  };
  const program = join(project, "customer.ts");
  const { stdout } = await run(process.execPath, [program, JSON.stringify(setup)]);
  const posts = sandbox.posts().filter(({ text }) => text.includes("a generated client"));
  expect(JSON.parse(stdout)).toEqual({
    balance: 500,
    profiles: ["five", "four", "three", "two", "one"],
    errors: {
      existingId: expect.stringMatching(/^prf_/),
      reason: "connection_missing",
      paths: ["title"],
    },
    post: {
      status: 202,
      replayed: "true",
      same: true,
      ended: "succeeded",
      urls: [expect.stringContaining("https://"), expect.stringContaining("https://")],
    },
  });
  expect(posts).toHaveLength(2);
});
