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

/** In place of the servers' own way to listen, which is to the whole network. */
async function listenOnLoopback(app: RequestListener): Promise<string> {
  const server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function main(folder: string, hostname: string): Promise<void> {
  const { Database, PlcServer } = await load<DirectoryPackage>("@did-plc/server");
  const { PDS, envToCfg, envToSecrets } = await load<ServerPackage>("@atproto/pds");
  const directory = await listenOnLoopback(PlcServer.create({ db: Database.mock() }).app);
  const environment = {
    hostname,
    didPlcUrl: directory,
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
  const pds = await listenOnLoopback(server.app);
  process.stdout.write(`peers listen ${JSON.stringify({ pds, directory })}\n`);
}

const [folder = "", hostname = ""] = process.argv.slice(2);
await main(folder, hostname);
