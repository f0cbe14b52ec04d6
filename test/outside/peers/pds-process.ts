/**
 * A real AT Protocol server with its own identity directory, both on loopback, as one process of its own. Says on its
 * output where it listens.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

/** As much of the packages as is used: their own types are only there once they are installed. */
interface DirectoryPackage {
  readonly Database: { mock: () => unknown };
  readonly PlcServer: {
    create: (options: { db: unknown }) => { readonly app: RequestListener };
  };
}
interface ServerPackage {
  readonly PDS: {
    create: (
      config: unknown,
      secrets: unknown,
    ) => Promise<{
      readonly app: RequestListener;
      readonly ctx: { readonly sequencer: { start: () => Promise<void> } };
    }>;
  };
  readonly envToCfg: (environment: object) => unknown;
  readonly envToSecrets: (environment: object) => unknown;
}

async function load<Package>(name: string): Promise<Package> {
  return (await import(name)) as Package;
}

interface Listening {
  readonly port: number;
  readonly url: string;
  /** Requests before this one wait. */
  serve(app: RequestListener): void;
}

/** Instead of the servers' own way to listen, which is to the whole network; the port is needed before the server. */
async function listenOnLoopback(): Promise<Listening> {
  const { promise, resolve } = Promise.withResolvers<RequestListener>();
  const server = createServer((request, response) => {
    void promise.then((app) => app(request, response));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}`, serve: resolve };
}

/** Puts the clock of this process forward when it is told to. Only the reading of the time changes, timers run as ever. */
function followClock(): void {
  const RealDate = Date;
  let aheadMs = 0;
  globalThis.Date = class extends RealDate {
    constructor(...given: [] | [number]) {
      if (given.length === 0) super(RealDate.now() + aheadMs);
      else super(...given);
    }
    static override now(): number {
      return RealDate.now() + aheadMs;
    }
  } as DateConstructor;
  process.on("message", (milliseconds) => {
    aheadMs += Number(milliseconds);
    process.send?.("advanced");
  });
}

async function main(folder: string, hostname: string): Promise<void> {
  const { Database, PlcServer } = await load<DirectoryPackage>("@did-plc/server");
  const { PDS, envToCfg, envToSecrets } = await load<ServerPackage>("@atproto/pds");
  const [directory, pds] = [await listenOnLoopback(), await listenOnLoopback()];
  directory.serve(PlcServer.create({ db: Database.mock() }).app);
  const environment = {
    hostname,
    // Part of the server's own address when that is on localhost.
    port: pds.port,
    didPlcUrl: directory.url,
    dataDirectory: folder,
    blobstoreDiskLocation: join(folder, "blobs"),
    serviceHandleDomains: [".test"],
    inviteRequired: false,
    crawlers: [],
    devMode: true,
    disableSsrfProtection: true,
    jwtSecret: randomBytes(32).toString("hex"),
    dpopSecret: randomBytes(32).toString("hex"),
    adminPassword: randomBytes(16).toString("hex"),
    plcRotationKeyK256PrivateKeyHex: randomBytes(32).toString("hex"),
  };
  const server = await PDS.create(envToCfg(environment), envToSecrets(environment));
  await server.ctx.sequencer.start();
  pds.serve(server.app);
  process.stdout.write(
    `peers listen ${JSON.stringify({ pds: pds.url, directory: directory.url })}\n`,
  );
}

followClock();
const [folder = "", hostname = ""] = process.argv.slice(2);
await main(folder, hostname);
