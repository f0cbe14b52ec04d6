import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Duplex } from "node:stream";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startAzurite, type Azurite } from "../../../dev/azurite.ts";

/**
 * The product without a secret for storage, as in Azure: an identity endpoint as App Service has it gives out tokens,
 * and Azurite takes them over HTTPS at the accounts' own names, which a proxy leads to it. Only DNS and the
 * certificate are stood in for, both by the process's environment.
 */
const run = promisify(execFile);
const CLIENT_ID = "6f1c3a52-0000-4000-8000-6f1c3a520000";
const HEADER = "a-header-that-only-the-platform-knows";
const TENANT = "ab1f708d-50f6-404c-a006-d71b2ac7a606";
const SUFFIX = "core.windows.net";
const RUN_MS = 60_000;

let folder: string;
let azurite: Azurite;
let platform: Server;
let proxy: Server;
/** Queries of token requests, and hosts that were dialled. */
const asked: { url: URL; header: string | undefined }[] = [];
const dialled: string[] = [];
/** The server lets go of a connection that became a tunnel: it would wait for it at its end. */
const tunnels = new Set<Duplex>();
let audience = "";

/** Azurite reads what a token says and leaves its signature alone. */
function tokenFor(resource: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    aud: resource,
    iss: `https://sts.windows.net/${TENANT}/`,
    iat: now - 60,
    nbf: now - 60,
    exp: now + 3600,
    oid: "0e5a8f2c-0000-4000-8000-0e5a8f2c0000",
    tid: TENANT,
  };
  return `${part({ alg: "RS256", typ: "JWT" })}.${part(claims)}.${part({ none: true })}`;
}

const listen = (server: Server) =>
  new Promise<number>((done) => {
    server.listen(0, "127.0.0.1", () => done((server.address() as AddressInfo).port));
  });

/** https://learn.microsoft.com/azure/app-service/overview-managed-identity#rest-endpoint-reference */
function identityEndpoint(): Server {
  return createServer((incoming, outgoing) => {
    const url = new URL(incoming.url ?? "", "http://127.0.0.1");
    asked.push({ url, header: incoming.headers["x-identity-header"]?.toString() });
    outgoing.setHeader("content-type", "application/json");
    outgoing.end(
      JSON.stringify({
        access_token: tokenFor(audience || (url.searchParams.get("resource") ?? "")),
        expires_on: String(Math.floor(Date.now() / 1000) + 3600),
        resource: url.searchParams.get("resource"),
        token_type: "Bearer",
        client_id: CLIENT_ID,
      }),
    );
  });
}

/** Leads `<account>.<service>.core.windows.net:443` to Azurite's port of the service. */
function tunnel(ports: Azurite["ports"]): Server {
  const server = createServer((_incoming, outgoing) => void outgoing.writeHead(403).end());
  server.on("connect", (incoming, socket) => {
    tunnels.add(socket);
    const host = (incoming.url ?? "").replace(/:443$/, "");
    dialled.push(host);
    const service = /^\w+\.(blob|queue|table)\.core\.windows\.net$/.exec(host)?.[1];
    if (service === undefined) return void socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    const upstream = connect(ports[service as keyof typeof ports], "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on("error", () => socket.destroy());
    socket.on("error", () => upstream.destroy());
  });
  return server;
}

async function certificate(): Promise<{ certificate: string; key: string }> {
  const [path, key] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  const names = ["table", "queue", "blob"].map((service) => `DNS:*.${service}.${SUFFIX}`).join();
  const kind = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"];
  const subject = ["-subj", "/CN=storage", "-addext", `subjectAltName=${names}`];
  await run("openssl", [...kind, ...subject, "-keyout", key, "-out", path]);
  return { certificate: path, key };
}

let environment: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "relay-identity-"));
  const files = await certificate();
  const key = Buffer.alloc(64, 1).toString("base64");
  const accounts = `sthostexample:${key};stdataexample:${key};stmediaexample:${key}`;
  azurite = await startAzurite({ inMemory: true, secured: { ...files, accounts } });
  platform = identityEndpoint();
  proxy = tunnel(azurite.ports);
  environment = {
    PATH: process.env["PATH"] ?? "",
    AZURE_FUNCTIONS_ENVIRONMENT: "Development",
    AzureWebJobsStorage__accountName: "sthostexample",
    DATA_STORAGE__accountName: "stdataexample",
    MEDIA_STORAGE__accountName: "stmediaexample",
    AZURE_CLIENT_ID: CLIENT_ID,
    IDENTITY_ENDPOINT: `http://127.0.0.1:${await listen(platform)}/msi/token`,
    IDENTITY_HEADER: HEADER,
    NO_PROXY: "127.0.0.1",
    HTTPS_PROXY: `http://127.0.0.1:${await listen(proxy)}`,
    NODE_EXTRA_CA_CERTS: files.certificate,
  };
});
afterAll(async () => {
  for (const socket of tunnels) socket.destroy();
  for (const server of [platform, proxy]) {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
  await azurite.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  asked.length = 0;
  dialled.length = 0;
  audience = "";
});

const start = (changes: Readonly<Record<string, string>> = {}) =>
  run(process.execPath, [resolve(import.meta.dirname, "identity-process.ts")], {
    env: { ...environment, ...changes },
    timeout: RUN_MS,
  });

describe("with the names of its storage accounts and an identity", () => {
  test("the product writes and reads tables, queues and files without any secret of theirs", async () => {
    const { stdout } = await start();
    expect(JSON.parse(stdout)).toMatchObject({
      read: true,
      checks: { tables: { status: "ok" }, queues: { status: "ok" } },
      files: "ok",
      sent: 201,
      sentAgain: 403,
      sentElsewhere: 403,
      content: "the bytes of a file",
      shownAs: "attachment; filename=\"a.jpg\"; filename*=UTF-8''a.jpg",
    });
    expect(new Set(dialled)).toEqual(
      new Set([
        `stdataexample.table.${SUFFIX}`,
        `sthostexample.queue.${SUFFIX}`,
        `stmediaexample.blob.${SUFFIX}`,
      ]),
    );
    expect(JSON.stringify(environment)).not.toMatch(/AccountKey|SharedAccess/i);
  });

  test("it signs the addresses of files by one key, which two processes need not share and addresses don't outlive", async () => {
    const processes = await Promise.all([start(), start()]);
    for (const { stdout } of processes) {
      const { keysFetched, addresses } = JSON.parse(stdout) as {
        keysFetched: number;
        addresses: string[];
      };
      expect(keysFetched).toBe(1);
      for (const address of addresses) {
        const { searchParams } = new URL(address);
        const time = (name: string) => Date.parse(searchParams.get(name) ?? "");
        expect(time("ske")).toBeGreaterThan(time("se"));
        // The service's clock may be behind: the key is older, and the address has no beginning.
        expect(time("skt")).toBeLessThan(Date.now() - 10 * 60_000);
        expect(searchParams.get("st")).toBeNull();
        expect(searchParams.get("spr")).toBe("https");
      }
    }
  });

  test("it asks for a token of the very identity that it was given, once for all tables and queues", async () => {
    await start();
    expect(asked.map(({ header }) => header)).toEqual([HEADER]);
    const [{ url } = { url: new URL("http://none") }] = asked;
    expect(url.pathname).toBe("/msi/token");
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      "api-version": "2019-08-01",
      client_id: CLIENT_ID,
    });
    expect(url.searchParams.get("resource")).toMatch(/^https:\/\/storage\.azure\.com\/?$/);
  });

  test("a token for something else opens nothing", async () => {
    audience = "https://vault.azure.net";
    await expect(start()).rejects.toThrow(/40[13]|Authenti|Authoriz/);
    expect(asked).toHaveLength(1);
    expect(dialled).toContain(`stdataexample.table.${SUFFIX}`);
  });
});
