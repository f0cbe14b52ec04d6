/**
 * A real AT Protocol server with its own identity directory, both on loopback, as one process of its own. Says on its
 * output where it listens; ends when its standard input does, which is when whoever started it is gone.
 */
import { randomBytes } from "node:crypto";
import { Server } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

/** As much of the packages as is used: their own types are only there once they are installed. */
interface Running {
  start(): Promise<Server>;
}
interface DirectoryPackage {
  readonly Database: { mock(): unknown };
  readonly PlcServer: { create(options: { db: unknown; port: number }): Running };
}
interface ServerPackage {
  readonly PDS: { create(config: unknown, secrets: unknown): Promise<Running> };
  envToCfg(environment: object): unknown;
  envToSecrets(environment: object): unknown;
}

async function load<Package>(name: string): Promise<Package> {
  return (await import(name)) as Package;
}

/** Neither server lets its address be chosen, and both would listen to the whole network. */
function listenOnLoopbackOnly(): void {
  const { listen } = Server.prototype;
  Server.prototype.listen = function listenOnLoopback(this: Server, ...given: unknown[]) {
    return listen.call(this, { port: Number(given[0]), host: "127.0.0.1" });
  };
}

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function main(folder: string, hostname: string): Promise<void> {
  listenOnLoopbackOnly();
  const { Database, PlcServer } = await load<DirectoryPackage>("@did-plc/server");
  const { PDS, envToCfg, envToSecrets } = await load<ServerPackage>("@atproto/pds");
  const directory = originOf(await PlcServer.create({ db: Database.mock(), port: 0 }).start());
  const environment = {
    port: 0,
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
  const pds = originOf(await server.start());
  console.log(`peers listen ${JSON.stringify({ pds, directory })}`);
}

process.stdin.resume().on("close", () => process.exit(0));
const [folder = "", hostname = ""] = process.argv.slice(2);
await main(folder, hostname);
