import { execFile, execFileSync, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSandbox, type Sandbox } from "../../../sandbox/server.ts";
import { blocksOf } from "../../docs/blocks.ts";
import { freePort } from "../../setup/free-ports.ts";
import { INSTALL_MS_MAX, installPackages } from "../../setup/install-packages.ts";
import { IS_LONG } from "../../setup/long-check.ts";
import { aPublisher, unique, type Publisher } from "../../setup/publisher.ts";
import { serveRelay, type RelayServer } from "../../setup/relay-server.ts";
import { startRelay, type Relay } from "../../setup/relay.ts";
import { sandboxSettings } from "../../setup/sandbox-accounts.ts";
import { VECTOR } from "../../webhooks/vector.ts";
import { hasChromium, inBrowser, openChromium } from "../browser/chromium.ts";
import type { Setup } from "./customer.ts";
import { installClient, type InstalledClient } from "./installed-client.ts";
import { troubledRelay, type TroubledRelay } from "./troubled-relay.ts";
import tools from "./package.json" with { type: "json" };
import workerdTools from "./workerd/package.json" with { type: "json" };

const run = promisify(execFile);
const TOOLS = new URL("./", import.meta.url);
const tool = (path: string) => fileURLToPath(new URL(`node_modules/${path}`, TOOLS));
const RUN_MS = 120_000;
const PROGRAM = `import { run } from "./customer.js";
const [setup] = (globalThis.Deno?.args ?? process.argv.slice(2));
console.log(JSON.stringify(await run(JSON.parse(setup))));`;

/** The machine's own Node, which is not that of the tests: the first outside \`node_modules\`. */
const ownNode = (process.env["PATH"] ?? "")
  .split(delimiter)
  .filter((folder) => !folder.includes("node_modules"))
  .map((folder) => join(folder, "node"))
  .find((path) => existsSync(path));
const ownVersion =
  ownNode === undefined ? "" : execFileSync(ownNode, ["--version"], { encoding: "utf8" }).trim();
const hasOwnNode = ownNode !== undefined && Number(/\d+/.exec(ownVersion)?.[0]) >= 20;

const { platform, arch } = process;
const isLinux = platform === "linux";
const denoPackage = `@deno/${platform}-${arch}${isLinux ? "-glibc" : ""}`;
const bunPackage = `@oven/bun-${platform}-${arch === "arm64" ? "aarch64" : "x64"}${isLinux && arch === "x64" ? "-baseline" : ""}`;
const has = (name: string) => Object.hasOwn(tools.optionalDependencies, name);
const WORKERD = new URL("workerd/", import.meta.url);
const workerdPackage = `@cloudflare/workerd-${platform}-${arch === "x64" ? "64" : arch}`;
const hasWorkerd = Object.hasOwn(workerdTools.optionalDependencies, workerdPackage);

interface Runtime {
  readonly name: string;
  readonly isHere: boolean;
  readonly program: string;
  readonly flags: readonly string[];
}

const RUNTIMES: readonly Runtime[] = [
  { name: `Node ${process.version}`, isHere: true, program: process.execPath, flags: [] },
  { name: `Node ${ownVersion}`, isHere: hasOwnNode, program: ownNode ?? "", flags: [] },
  {
    name: "Deno",
    isHere: has(denoPackage),
    program: tool(`${denoPackage}/deno`),
    flags: ["run", "--allow-net", "--no-remote"],
  },
  { name: "Bun", isHere: has(bunPackage), program: tool(`${bunPackage}/bin/bun`), flags: [] },
];

let sandbox: Sandbox;
let relay: Relay;
let server: RelayServer;
let publisher: Publisher;
let client: InstalledClient;
let troubled: TroubledRelay;
let picture: string;

beforeAll(async () => {
  await installPackages(TOOLS);
  sandbox = await startSandbox();
  relay = await startRelay({ settings: sandboxSettings(sandbox, sandbox.url) });
  server = await serveRelay(relay);
  const keys = new Set<string | undefined>([undefined]);
  // Each post's first answer is lost.
  troubled = await troubledRelay(server.baseUrl, ({ key }) => {
    const isFirst = !keys.has(key);
    keys.add(key);
    return isFirst ? "lose answer" : "pass";
  });
  publisher = await aPublisher(relay);
  client = await installClient();
  const png = sharp({ create: { width: 320, height: 320, channels: 3, background: "#3366cc" } });
  picture = (await png.png().toBuffer()).toString("base64");
  await writeFile(join(client.folder, "main.js"), PROGRAM);
}, INSTALL_MS_MAX);
afterAll(async () => {
  troubled.close();
  await server.close();
  await relay.stop();
  await sandbox.stop();
  await client.remove();
});

/** A delivery of this moment. */
function aDelivery(): Setup["delivery"] {
  const { secret, body } = VECTOR;
  const time = Math.floor(Date.now() / 1000);
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const mac = createHmac("sha256", key).update(`${time}.${body}`).digest("hex");
  return { secret, body, header: `t=${time},v1=${mac}` };
}

const setupFor = (text: string): Setup => ({
  baseUrl: troubled.baseUrl,
  caller: { key: publisher.key },
  profileId: publisher.profileId,
  text,
  picture,
  delivery: aDelivery(),
});

function expectAll(found: unknown, text: string): void {
  expect(found).toEqual({
    profiles: { seen: ["three", "two", "one"], pages: expect.any(Number) },
    errors: { existingId: expect.stringMatching(/^prf_/), paths: ["title"] },
    post: {
      isSame: true,
      status: "succeeded",
      urls: [expect.stringContaining("https://"), expect.stringContaining("https://")],
    },
    file: { status: "ready", width: 320, isSent: true },
    webhook: ["webhook.test", "refused"],
  });
  expect(sandbox.posts().filter((post) => post.text === text)).toHaveLength(2);
  // A host of Azure loses a body that comes without its length.
  const sent = troubled.requests.filter(({ method }) => method === "POST");
  expect(sent.filter(({ length }) => length === undefined)).toEqual([]);
}

describe.each(RUNTIMES)("on $name", ({ name, isHere, program, flags }) => {
  test.skipIf(!isHere)(
    "the client publishes, and understands answers",
    { timeout: RUN_MS },
    async () => {
      const text = unique(`On ${name}`);
      const args = [...flags, "main.js", JSON.stringify(setupFor(text))];
      const { stdout } = await run(program, args, { cwd: client.folder, timeout: RUN_MS });
      expectAll(JSON.parse(stdout), text);
    },
  );
});

/** What the runtime of Cloudflare's workers reads: one module, which may call this machine. */
const workerConfig = (port: number) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "internet", network = (allow = ["public", "private", "local"])) ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")] );
const main :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-10-01" );`;

describe.skipIf(!IS_LONG || !hasWorkerd)("in a worker", () => {
  test("the client publishes, and understands answers", { timeout: INSTALL_MS_MAX }, async () => {
    await installPackages(WORKERD);
    const { folder } = client;
    const source = `import { run } from "./customer.js";
      export default {
        fetch: async (request) => Response.json(await run(await request.json())) };`;
    await writeFile(join(folder, "entry.js"), source);
    const outfile = join(folder, "worker.js");
    await build({ entryPoints: [join(folder, "entry.js")], bundle: true, format: "esm", outfile });
    const port = await freePort();
    await writeFile(join(folder, "config.capnp"), workerConfig(port));
    const program = fileURLToPath(new URL(`node_modules/${workerdPackage}/bin/workerd`, WORKERD));
    const worker = spawn(program, ["serve", "config.capnp"], { cwd: folder, stdio: "ignore" });
    const ended = once(worker, "exit");
    try {
      const text = unique("In a worker");
      const body = JSON.stringify(setupFor(text));
      const ask = () => fetch(`http://127.0.0.1:${port}/`, { method: "POST", body });
      const isUp = () =>
        fetch(`http://127.0.0.1:${port}/`).then(
          () => true,
          () => false,
        );
      await expect.poll(isUp).toBe(true);
      expectAll(await (await ask()).json(), text);
    } finally {
      worker.kill();
      await ended;
    }
  });
});

const [publishing = "", uploading = "", following = "", receiving = ""] = blocksOf(
  "clients/typescript/README.md",
)
  .filter(({ language }) => language === "js")
  .map(({ code }) => code);

describe("the README", () => {
  test("publishes, waits and says where", { timeout: RUN_MS }, async () => {
    await writeFile(join(client.folder, "publishing.js"), publishing);
    const env = {
      RELAY_URL: troubled.baseUrl,
      RELAY_KEY: publisher.key,
      RELAY_PROFILE: publisher.profileId,
    };
    const options = { cwd: client.folder, env, timeout: RUN_MS };
    const { stdout } = await run(process.execPath, ["publishing.js"], options);
    expect(stdout).toMatch(/^bluesky succeeded https:.*\nmastodon succeeded https:.*\n$/);
  });

  test("uploads a file, which a post can use", { timeout: RUN_MS }, async () => {
    const made = uploading.replaceAll(
      /"clip\.mp4", \{ type: "video\/mp4" \}/g,
      '"blue.png", { type: "image/png" }',
    );
    await writeFile(join(client.folder, "blue.png"), Buffer.from(picture, "base64"));
    const setup = { baseUrl: troubled.baseUrl, key: publisher.key, profileId: publisher.profileId };
    const program = `import { RelayClient } from "publishing-relay-client";
      const relay = new RelayClient(${JSON.stringify(setup)});
      ${made}
      console.log(url, fits.mastodon.ok);`;
    await writeFile(join(client.folder, "uploading.js"), program);
    const { stdout } = await run(process.execPath, ["uploading.js"], { cwd: client.folder });
    expect(stdout).toMatch(/^https?:\S+\/v1\/media\/\S+\/content true\n$/);
  });

  test("receives a webhook", { timeout: RUN_MS }, async () => {
    const { secret, body, header } = aDelivery();
    const program = `${receiving}
      const { body, header, secret } = ${JSON.stringify({ secret, body, header })};
      const request = (text) => new Request("https://example.com/", {
        method: "POST", body: text, headers: { "X-Social-Restapi-Signature": header } });
      console.log((await receive(request(body), secret)).status);
      await receive(request("{}"), secret).catch(({ name }) => console.log(name));`;
    await writeFile(join(client.folder, "receiving.js"), program);
    const { stdout } = await run(process.execPath, ["receiving.js"], { cwd: client.folder });
    expect(stdout).toBe("204\nRelayWebhookError\n");
  });
});

/** The address of a page with the client's package and the relay beside it, as a dashboard has them. */
async function serveDashboard(): Promise<{ readonly url: string; readonly site: Server }> {
  const packages = join(client.folder, "node_modules");
  const files: Readonly<Record<string, string>> = {
    "/customer.js": join(client.folder, "customer.js"),
    "/client.js": join(packages, "publishing-relay-client/dist/index.js"),
    "/openapi-fetch.js": join(packages, "openapi-fetch/dist/index.mjs"),
  };
  const imports = {
    "publishing-relay-client": "/client.js",
    "openapi-fetch": "/openapi-fetch.js",
  };
  const page = `<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script>`;
  const site = createServer((request, response) => {
    const handle = async () => {
      const { url = "/", method = "GET" } = request;
      const file = files[url];
      if (file !== undefined)
        return response.setHeader("content-type", "text/javascript").end(await readFile(file));
      if (!url.startsWith("/api/"))
        return response.setHeader("content-type", "text/html").end(page);
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const headers = new Headers();
      for (const [name, value] of Object.entries(request.headers))
        if (/^(?:authorization|content-type|x-|idempotency-key)/.test(name))
          headers.set(name, String(value));
      const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) };
      const answer = await fetch(new URL(url, troubled.baseUrl), { method, headers, ...body });
      response.writeHead(answer.status, { "content-type": "application/json" });
      return response.end(Buffer.from(await answer.arrayBuffer()));
    };
    handle().catch(() => response.destroy());
  }).listen(0, "127.0.0.1");
  await once(site, "listening");
  return { url: `http://127.0.0.1:${(site.address() as AddressInfo).port}`, site };
}

describe.skipIf(!hasChromium)(inBrowser("in a browser"), () => {
  test("the client takes a session and no key", { timeout: RUN_MS }, async () => {
    const text = unique("In a browser");
    const [chromium, { url, site }] = await Promise.all([openChromium(), serveDashboard()]);
    try {
      const page = await chromium.newPage();
      await page.goto(url);
      const runWith = (setup: Setup): Promise<unknown> =>
        page.evaluate(`import("/customer.js").then(({ run }) => run(${JSON.stringify(setup)}))`);
      const { application } = publisher;
      const setup = { ...setupFor(text), baseUrl: `${url}/api` };
      await expect(runWith(setup)).rejects.toThrow("An API key must not be in a browser.");
      const caller = { session: application.platform.session };
      expectAll(await runWith({ ...setup, caller, applicationId: application.id }), text);
      const given = { baseUrl: setup.baseUrl, profileId: setup.profileId, ...caller, picture };
      const followed: unknown = await page.evaluate(`(async () => {
        const { RelayClient } = await import("publishing-relay-client");
        const { baseUrl, profileId, session, picture } = ${JSON.stringify(given)};
        const bytes = Uint8Array.from(atob(picture), (one) => one.charCodeAt(0));
        const input = { files: [new File([bytes], "blue.png", { type: "image/png" })] };
        const bar = {};
        ${following}
        return [file.status, bar.value];
      })()`);
      expect(followed).toEqual(["ready", 1]);
    } finally {
      await chromium.close();
      site.closeAllConnections();
      site.close();
    }
  });
});
