import type { BoundedAccount } from "../src/shared/networks/contract/bounded.ts";
import { randomUUID } from "node:crypto";
import { routes } from "../src/functions/routes.ts";
import { creditWallet } from "../src/shared/ledger/ledger.ts";
import { parseConfig } from "../src/shared/config/config.ts";
import { answer, type Outgoing } from "../src/shared/http/answer.ts";
import { matchPath, type Route, type RouteMatch } from "../src/shared/http/route.ts";
import { newId } from "../src/shared/runtime/ids.ts";
import type { NetworkName } from "../src/shared/networks/networks.ts";
import { buildServices, type Services } from "../src/shared/compose.ts";
import type { BenchStorage } from "./emulator.ts";

/** Two networks whose adapters need no app of ours. */
export const BENCH_NETWORKS = ["bluesky", "mastodon"] as const satisfies readonly NetworkName[];

/** Begins the name of every table and queue that a benchmark makes. */
export const BENCH_PREFIX = "b";

/** Where the benchmarks' Mastodon-compatible accounts live. */
export const NETWORK_HOST = "social.example";

/** As linking leaves them, for every network that a benchmark publishes to. */
const CREDENTIALS = {
  origin: `https://${NETWORK_HOST}`,
  accessToken: "bench",
  clientId: "bench",
  clientSecret: "bench",
  keepsKeys: true,
  did: "did:plc:bench",
  pds: `https://${NETWORK_HOST}`,
  service: `https://${NETWORK_HOST}`,
  accessJwt: "bench",
  refreshJwt: "bench",
  accessExpiresAt: "2100-01-01T00:00:00.000Z",
};
const VIDEO_BYTES_MAX = 400_000_000;

const CREDITED_TOKENS = 10_000_000;

/** A paying platform with one profile, ready to post. */
export interface Tenant {
  readonly platformId: string;
  readonly applicationId: string;
  readonly profileId: string;
  readonly apiKey: string;
}

/** Returns the settings of the product, with its own tables and queues. */
export function settingsOf(storage: BenchStorage, prefix: string): Record<string, string> {
  return {
    AZURE_FUNCTIONS_ENVIRONMENT: "Development",
    AzureWebJobsStorage: storage.queues,
    DATA_STORAGE: storage.tables,
    STORAGE_PREFIX: prefix,
    ALLOW_SIGNUP: "true",
    BCRYPT_COST: "4",
    RATE_LIMIT_PER_MINUTE: "1000000",
    PLATFORM_RATE_PER_MINUTE: "1000000",
    // What is spread over time has a message of its own for each post.
    LEG_PACE_PER_SECOND: "10000",
    AUTH_RATE_PER_MINUTE: "100000",
    SIGNUPS_PER_ADDRESS_DAY: "1000000",
    LOG_LEVEL: "warn",
  };
}

/** The product in this process. */
export function startRelay(
  storage: BenchStorage,
  prefix: string,
  settings: Readonly<Record<string, string>> = {},
): Services {
  // Tenants sign up in parallel from one address, before anything is measured.
  const costlyWork = { capacity: 2, perOwner: 2, waitingMax: 1_000 };
  return buildServices(parseConfig({ ...settingsOf(storage, prefix), ...settings }), {
    costlyWork,
  });
}

export interface Ask {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

type Found = RouteMatch<Route>;

/** Routes of the calls so far: the host finds a call's route, which must not count as the product's time. */
const known = new Map<string, Found>();

function routeOf(method: Ask["method"], path: string): Found {
  const name = `${method} ${path}`;
  const found =
    known.get(name) ?? matchPath(routes, path).find(({ route }) => route.method === method);
  if (found === undefined) throw new Error(`no route for ${name}`);
  known.set(name, found);
  return found;
}

/** A request through the product's routes, as the host hands it in. */
export function call(services: Services, { method, path, headers, body }: Ask): Promise<Outgoing> {
  const found = routeOf(method, path);
  const bytes = new TextEncoder().encode(body === undefined ? "" : JSON.stringify(body));
  return answer(found.route, services, {
    method,
    url: new URL(`http://localhost/api/${path}`),
    headers: new Headers({ "content-type": "application/json", ...headers }),
    params: found.params,
    body: async () => bytes,
  });
}

export function headersOf({ apiKey, profileId }: Tenant): Record<string, string> {
  return { authorization: `Bearer ${apiKey}`, "x-profile-id": profileId };
}

/** A post that is like no other, under a key of its own. */
export function acceptAsk(tenant: Tenant, body: object = {}): Ask {
  const key = randomUUID();
  return {
    method: "POST",
    path: "v1/posts",
    headers: { ...headersOf(tenant), "idempotency-key": key },
    body: { text: `Measured ${key}`, platforms: BENCH_NETWORKS, ...body },
  };
}

/** The `data` of a success. @throws Error on any other answer */
export async function succeed<T>(services: Services, ask: Ask): Promise<T> {
  const { status, body } = await call(services, ask);
  if (status >= 300)
    throw new Error(`${ask.method} ${ask.path} answered ${status}: ${String(body)}`);
  return (JSON.parse(String(body)) as { data: T }).data;
}

async function link(services: Services, tenant: Tenant): Promise<void> {
  const { platformId, applicationId, profileId } = tenant;
  for (const network of BENCH_NETWORKS) {
    const id = newId("connection", new Date());
    await services.connections.stores.connections.saveLinked({
      id,
      platformId,
      applicationId,
      profileId,
      network,
      // Safe: it is small.
      linked: {
        account: {
          id: `${network}:${id}`,
          username: "bench",
          displayName: "Bench",
          avatarUrl: null,
          url: `https://${NETWORK_HOST}/bench`,
          kind: "person",
        },
        credentials: CREDENTIALS,
        instanceUrl: `https://${NETWORK_HOST}`,
        scopes: [],
        limits: { videoBytesMax: VIDEO_BYTES_MAX },
        expiresAt: null,
      } as unknown as BoundedAccount,
    });
  }
}

/** Sign-up, tokens, application with its key, profile, accounts. */
export async function openTenant(services: Services): Promise<Tenant> {
  const { token, platform } = await succeed<{ token: string; platform: { id: string } }>(services, {
    method: "POST",
    path: "v1/auth/signup",
    body: {
      email: `${randomUUID()}@example.test`,
      password: "correct horse battery",
      platformName: "Bench",
    },
  });
  await creditWallet(services.ledger, platform.id, {
    operationId: "credit|bench",
    tokens: CREDITED_TOKENS,
    actor: { kind: "system", id: "bench" },
    requestId: "bench",
  });
  const application = await succeed<{ id: string; apiKey: { secret: string } }>(services, {
    method: "POST",
    path: "v1/applications",
    headers: { authorization: `Bearer ${token}` },
    body: { name: "Bench" },
  });
  const apiKey = application.apiKey.secret;
  const profile = await succeed<{ id: string }>(services, {
    method: "POST",
    path: "v1/profiles",
    headers: { authorization: `Bearer ${apiKey}` },
    body: { title: "Bench" },
  });
  const tenant = {
    platformId: platform.id,
    applicationId: application.id,
    profileId: profile.id,
    apiKey,
  };
  await link(services, tenant);
  return tenant;
}
