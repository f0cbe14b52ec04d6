import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { BlobStore } from "./blob-store.ts";
import { json } from "./exchange.ts";
import { FaultBook } from "./faults.ts";
import type { GivenAnswer } from "./faults.ts";
import { linkSite } from "./links.ts";
import { Mailbox } from "./mailbox.ts";
import type { PublishedPost, SandboxNetwork, Site, Surroundings } from "./network.ts";
import { ownSite } from "./own-pages.ts";
import { RateWindows } from "./rate-windows.ts";
import { NETWORKS } from "./registry.ts";
import { RequestLog } from "./request-log.ts";
import type { LoggedRequest } from "./request-log.ts";
import { mediaSite } from "./sample-media.ts";
import { SavedState } from "./saved-state.ts";
import { serve } from "./serving.ts";
import type { Served } from "./serving.ts";
import type { UploadingCustomer } from "./uploads-page.ts";

const DEFAULT_PORT = 7072;

type Networks = { readonly [Name in keyof typeof NETWORKS]: InstanceType<(typeof NETWORKS)[Name]> };

export interface SandboxOptions {
  /** 0 is any free port. */
  readonly port?: number;
  /** A folder keeps accounts, tokens and posts between starts. */
  readonly state?: string;
  readonly now?: () => number;
  /** Further hosts, of which its networks fetch. */
  readonly sites?: readonly Site[];
  /** Where a mail server puts what it is sent. */
  readonly mailbox?: Mailbox;
}

export interface Sandbox {
  readonly url: string;
  readonly port: number;
  /** Every host that it answers for. */
  readonly hosts: readonly string[];
  /** Where `/connect` leads; "" while there is no page that links accounts. */
  connectUrl: string;
  /** Where `/reference` leads: the reference of the relay, with a key in the fragment; "" while there is none. */
  referenceUrl: string;
  /** For whom the page `/uploads` uploads files; undefined while there is no relay. */
  customer: UploadingCustomer | undefined;
  /** The networks with their accounts and switches. */
  readonly networks: Networks;
  /** What is public, oldest first. */
  posts(network?: keyof Networks): readonly PublishedPost[];
  /** The last requests, oldest first. */
  requests(): readonly LoggedRequest[];
  /** Lets the next calls of a route suffer a fault (a magic word without its brackets, or any answer); route `*` is any. */
  fault(network: keyof Networks, route: string, fault: string | GivenAnswer, times?: number): void;
  clearFaults(): void;
  /** Puts the sandbox's clock forward. */
  advance(milliseconds: number): void;
  /** Back to the demo accounts, without posts, tokens, faults and logged requests. */
  reset(): void;
  stop(): Promise<void>;
}

function buildNetworks(surroundings: Surroundings): Networks {
  const built = Object.entries(NETWORKS).map(([name, Network]) => [
    name,
    new Network(surroundings),
  ]);
  // Same keys and classes as NETWORKS: the compiler can't follow Object.entries.
  return Object.fromEntries(built) as Networks;
}

/** Starts the sandbox on loopback. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const folder = options.state === "memory" ? undefined : options.state;
  const clock = options.now ?? Date.now;
  let advanced = 0;
  let url = "";
  const now = () => clock() + advanced;
  const blobs = new BlobStore(folder === undefined ? undefined : join(folder, "blobs"));
  const windows = new RateWindows(now);
  const networks = buildNetworks({ now, origin: () => url, blobs, windows });
  const all: readonly SandboxNetwork[] = Object.values(networks);
  const saved = folder === undefined ? undefined : new SavedState(folder, all);
  const faults = new FaultBook();
  const log = new RequestLog();
  const posts = (network?: string) =>
    all
      .filter(({ name }) => network === undefined || name === network)
      .flatMap((one) => one.posts());
  const mailbox = options.mailbox ?? new Mailbox();
  const reset = () => {
    for (const network of all) network.reset();
    for (const held of [faults, log, windows, blobs, mailbox]) held.clear();
    advanced = 0;
    saved?.save();
  };
  const advance = (milliseconds: number) => void (advanced += milliseconds);
  const sites: readonly Site[] = [mediaSite, linkSite, ...(options.sites ?? []), ...all];
  const own = ownSite({
    networks: all,
    blobs,
    faults,
    log,
    posts,
    removed: () => all.flatMap((one) => one.removedPosts?.() ?? []),
    reset,
    advance,
    mailbox,
    origin: () => url,
    connectUrl: () => sandbox.connectUrl,
    referenceUrl: () => sandbox.referenceUrl,
    customer: () => sandbox.customer,
  });
  const changed: Served["changed"] = (network, method) =>
    network === undefined || method === "GET" ? saved?.changed() : saved?.saveOne(network);
  const server = listener({ own, sites, faults, log, now, posts, changed });
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  url = `http://127.0.0.1:${port}`;
  const sandbox: Sandbox = {
    url,
    port,
    connectUrl: "",
    referenceUrl: "",
    customer: undefined,
    networks,
    posts,
    reset,
    advance,
    get hosts() {
      return sites.flatMap((site) => site.hosts);
    },
    requests: () => log.entries(),
    fault: (network, route, fault, times = 1) => faults.switchOn({ network, route, fault, times }),
    clearFaults: () => faults.clear(),
    stop: async () => {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
      saved?.save();
    },
  };
  return sandbox;
}

function listener(served: Served) {
  return createServer((request, response) => {
    serve(served, request, response).catch((error: unknown) => {
      // Who went away in the middle of a request gets no answer, and that is no failure of the sandbox.
      if (request.destroyed && !request.complete) return;
      console.error("sandbox:", request.method, request.url?.split("?")[0], error);
      if (response.headersSent) response.destroy();
      else {
        const answer = json(500, { error: "the sandbox itself failed; see its console" });
        response.writeHead(500, answer.headers).end(answer.body);
      }
    });
  });
}

if (import.meta.main) {
  const port = Number(process.env["SANDBOX_PORT"] ?? DEFAULT_PORT);
  const sandbox = await startSandbox({ port, state: process.env["SANDBOX_STATE"] ?? "memory" });
  console.log(`sandbox networks on ${sandbox.url}`);
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void sandbox.stop().then(() => process.exit(0)));
}
