import { startSandbox, type Sandbox } from "../../sandbox/server.ts";
import { inject } from "vitest";
import { parseConfig } from "../../src/shared/config/config.ts";
import type { HttpRequest, HttpResponse } from "../../src/shared/runtime/http-call.ts";
import { createOutbound, type Outbound } from "../../src/shared/runtime/outbound.ts";
import type { Services } from "../../src/shared/compose.ts";
import { anApplication, aPlatform, aProfile, type TestApplication } from "../setup/factories.ts";
import { startRelay, type Answer, type Relay, type RelayOptions } from "../setup/relay.ts";

export const BASE = "http://localhost:7071/api";
/** A customer's own site, to which end users return. */
const CUSTOMER_HOST = "app.customer.example.org";

/** Mastodon servers of one test each: nobody else has an account there linked. */
export const OWN_INSTANCES = ["first.sandbox.test", "second.sandbox.test"] as const;

/** The tenant that a test acts for. */
export interface Owner {
  readonly platformId: string;
  readonly applicationId: string;
  readonly profileId: string;
  readonly key: string;
  readonly application: TestApplication;
}

interface PageCall {
  readonly headers?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
}

type Hear = (
  request: HttpRequest,
  send: (request: HttpRequest) => Promise<HttpResponse>,
) => Promise<HttpResponse>;

/** The relay with the sandbox networks as the world outside. */
export interface World {
  readonly relay: Relay;
  readonly services: Services;
  readonly sandbox: Sandbox;
  /** What a browser does: a whole address, a form, an answer that need not be JSON. */
  page(method: "GET" | "POST", address: string, call?: PageCall): Promise<Answer>;
  /** The services of another process of the same deployment. */
  anotherProcess(options?: Pick<RelayOptions, "settings" | "tableFault">): Promise<Services>;
  /** Stands between the relay and the networks, until undone with undefined. */
  intercept(hear: Hear | undefined): void;
  close(): Promise<void>;
}

/** `servers` stand in for hosts of their own, beside the sandbox's. */
export async function openWorld(
  more: Readonly<Record<string, string>> = {},
  servers: Readonly<Record<string, string>> = {},
  options: Pick<RelayOptions, "emulatedTables" | "holdWrite"> = {},
): Promise<World> {
  let heard: Hear | undefined;
  let relay: Relay | undefined = undefined;
  const now = () => relay?.clock.now().getTime() ?? Date.now();
  const sandbox = await startSandbox({ now });
  const hosts = [CUSTOMER_HOST, ...OWN_INSTANCES, ...sandbox.hosts];
  const hostMap = { ...Object.fromEntries(hosts.map((host) => [host, sandbox.url])), ...servers };
  const settings = {
    LOG_LEVEL: "debug",
    OUTBOUND_HOST_MAP: JSON.stringify(hostMap),
    OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32",
    ...more,
  };
  const real = createOutbound(
    parseConfig({
      AZURE_FUNCTIONS_ENVIRONMENT: "Development",
      AzureWebJobsStorage: inject("azurite"),
      ...settings,
    }),
  );
  const send = (request: HttpRequest) => real.request(request);
  const outbound: Outbound = {
    ...real,
    request: (request) => (heard === undefined ? send(request) : heard(request, send)),
  };
  const started = await startRelay({ ...options, settings, outbound });
  relay = started;
  return {
    relay: started,
    services: started.services,
    sandbox,
    page(method, address, { headers, form } = {}) {
      if (!address.startsWith(`${BASE}/`)) throw new Error(`${address} is not ours`);
      const type = { "content-type": "application/x-www-form-urlencoded" };
      return started.call(method, address.slice(BASE.length), {
        headers: { ...headers, ...(form === undefined ? {} : type) },
        ...(form === undefined ? {} : { rawBody: new URLSearchParams(form).toString() }),
      });
    },
    async anotherProcess(more) {
      const process = await startRelay({ ...more, sameDeploymentAs: started, outbound });
      return process.services;
    },
    intercept: (hear) => {
      heard = hear;
    },
    async close() {
      await started.stop();
      await sandbox.stop();
    },
  };
}

/** A platform with tokens, an application with a key, and a profile. */
export async function anOwner({ relay }: World, tokens = 100): Promise<Owner> {
  return await ownerOf(relay, await anApplication(relay, await aPlatform(relay, { tokens })));
}

/** The same platform's other application. */
export async function aSibling({ relay }: World, owner: Owner): Promise<Owner> {
  return await ownerOf(relay, await anApplication(relay, owner.application.platform));
}

async function ownerOf(relay: Relay, application: TestApplication): Promise<Owner> {
  const { id: profileId } = await aProfile(relay, application);
  const { id: applicationId, platform, key } = application;
  return { platformId: platform.id, applicationId, profileId, key, application };
}

/** The same application's other profile. */
export async function anotherProfile({ relay }: World, owner: Owner): Promise<Owner> {
  return { ...owner, profileId: (await aProfile(relay, owner.application)).id };
}

export async function balance({ services }: World, { platformId }: Owner): Promise<number> {
  return (await services.ledger.stores.ledger.readWallet(platformId)).balance;
}
