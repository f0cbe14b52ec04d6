import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { DEMO_FACEBOOK_APP } from "../../../dev/networks/facebook/state.ts";
import { DEMO_INSTAGRAM_APP } from "../../../dev/networks/instagram/state.ts";
import { DEMO_LINKEDIN_APP, DEMO_LINKEDIN_ORG_APP } from "../../../dev/networks/linkedin/state.ts";
import { startSandbox, type Sandbox } from "../../../dev/networks/server.ts";
import { timers } from "../../../src/functions/timers.ts";
import { workers } from "../../../src/functions/workers.ts";
import { parseConfig } from "../../../src/shared/config.ts";
import { systemScope } from "../../../src/shared/http/worker.ts";
import type { HttpRequest } from "../../../src/shared/networks/network.ts";
import { createOutbound } from "../../../src/shared/outbound.ts";
import { startRelay, type Relay } from "../../setup/relay.ts";
import { startReceiver, type Receiver } from "../../webhooks/receiver.ts";

const RECEIVER_HOST = "hooks.example.test";
export const BASE = "http://localhost:7071/api";
/** Mastodon servers on which nobody else has an account, so that no leg waits for another's. */
export const SERVERS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh"].map(
  (name) => `${name}.sandbox.test`,
);

const key = (fill: string) => Buffer.alloc(32, fill).toString("base64");
const FIRST_PEPPER = "test-only-pepper-of-0.2.0-the-first-one";
/** Secrets of the dump and of nothing else. */
const SECRETS = {
  SESSION_SECRET: "test-only-session-secret-of-the-dump",
  GRANT_SECRET: "test-only-grant-secret-of-the-dump-of-0.2.0",
  KEY_PEPPER: FIRST_PEPPER,
  DATA_KEYS: JSON.stringify({ first: key("test-only-1") }),
};
/** After a rotation, of which not all rows have heard. */
const ROTATED = {
  KEY_PEPPER: "test-only-pepper-of-0.2.0-the-second-one",
  KEY_PEPPER_PREVIOUS: FIRST_PEPPER,
  DATA_KEYS: JSON.stringify({ second: key("test-only-2"), first: key("test-only-1") }),
};
const REST = {
  PUBLIC_BASE_URL: BASE,
  // A delivery that fails three times is dead.
  WEBHOOK_RETRY_SECONDS: "5,300",
  // All of the demo's time within one budget.
  QUOTA_INSTAGRAM: "25",
  FACEBOOK_APP_ID: DEMO_FACEBOOK_APP.id,
  FACEBOOK_APP_SECRET: DEMO_FACEBOOK_APP.secret,
  INSTAGRAM_APP_ID: DEMO_INSTAGRAM_APP.id,
  INSTAGRAM_APP_SECRET: DEMO_INSTAGRAM_APP.secret,
  LINKEDIN_CLIENT_ID: DEMO_LINKEDIN_APP.id,
  LINKEDIN_CLIENT_SECRET: DEMO_LINKEDIN_APP.secret,
  LINKEDIN_ORG_CLIENT_ID: DEMO_LINKEDIN_ORG_APP.id,
  LINKEDIN_ORG_CLIENT_SECRET: DEMO_LINKEDIN_ORG_APP.secret,
};
/** What the dump is opened with. */
export const SETTINGS = { ...SECRETS, ...ROTATED, ...REST };

export interface OldWorld {
  readonly sandbox: Sandbox;
  /** Where the sandbox keeps its state. */
  readonly folder: string;
  readonly receiver: Receiver;
  /** Before the rotation of pepper and data key. */
  readonly before: Relay;
  readonly relay: Relay;
  /** A process whose calls to the world the test ends, and with them the process. */
  readonly dying: Relay;
  dieAt(where: ((request: HttpRequest) => "before" | "after" | undefined) | undefined): void;
  runTimer(name: string, on?: Relay): Promise<void>;
  page(
    method: "GET" | "POST",
    address: string,
    call?: {
      readonly headers?: Readonly<Record<string, string>>;
      readonly form?: Readonly<Record<string, string>>;
    },
  ): ReturnType<Relay["call"]>;
  close(): Promise<void>;
}

export async function openOldWorld(): Promise<OldWorld> {
  const folder = await mkdtemp(join(tmpdir(), "old-data-"));
  let started: Relay | undefined;
  const sandbox = await startSandbox({
    state: folder,
    now: () => started?.clock.now().getTime() ?? Date.now(),
  });
  const receiver = await startReceiver();
  const hosts = Object.fromEntries(
    [...sandbox.hosts, ...SERVERS].map((host) => [host, sandbox.url]),
  );
  const settings = {
    ...SECRETS,
    ...REST,
    OUTBOUND_HOST_MAP: JSON.stringify({
      ...hosts,
      [RECEIVER_HOST]: `http://127.0.0.1:${receiver.port}`,
    }),
    OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32",
  };
  const before = await startRelay({ emulatedTables: true, settings });
  started = before;
  const relay = await startRelay({
    emulatedTables: true,
    sameDeploymentAs: before,
    settings: ROTATED,
  });
  let where: Parameters<OldWorld["dieAt"]>[0];
  const real = createOutbound(
    parseConfig({
      AZURE_FUNCTIONS_ENVIRONMENT: "Development",
      AzureWebJobsStorage: inject("azurite"),
      ...settings,
    }),
  );
  const outbound: typeof real = {
    ...real,
    browserUrl: (address) => real.browserUrl(address),
    open: (request) => real.open(request),
    close: () => real.close(),
    async request(request) {
      const end = where?.(request);
      if (end === "before") throw new Error("the process ends here");
      const answer = await real.request(request);
      if (end === "after") throw new Error("the process ends here");
      return answer;
    },
  };
  const dying = await startRelay({
    emulatedTables: true,
    sameDeploymentAs: relay,
    settings: ROTATED,
    outbound,
  });
  // Who is dead gives nothing back.
  dying.services.turns.release = () => Promise.resolve(undefined);
  return {
    sandbox,
    folder,
    receiver,
    before,
    relay,
    dying,
    dieAt(at) {
      where = at;
    },
    async runTimer(name, { services } = relay) {
      const timer = timers.find((one) => one.name === name);
      if (timer === undefined) throw new Error(`there is no timer ${name}`);
      await timer.run(services, systemScope(services, name));
    },
    page(method, address, { headers, form } = {}) {
      const type = { "content-type": "application/x-www-form-urlencoded" };
      return relay.call(method, address.slice(BASE.length), {
        headers: { ...headers, ...(form === undefined ? {} : type) },
        ...(form === undefined ? {} : { rawBody: new URLSearchParams(form).toString() }),
      });
    },
    async close() {
      await Promise.all([before.stop(), relay.stop(), dying.stop()]);
      await receiver.stop();
      await sandbox.stop();
    },
  };
}

/** Hands a message to its worker in the process that ends over it. */
export async function dieOver({ dying }: OldWorld, queue: string, message: object) {
  const worker = workers.find((one) => one.queue === queue);
  if (worker === undefined) throw new Error(`nobody works on ${queue}`);
  let isDead = false;
  try {
    await worker.handle(dying.services, message);
  } catch {
    isDead = true;
  }
  if (!isDead) throw new Error(`nothing ended over a message of ${queue}`);
}
