import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { endedPost, linkMastodon, publish, type Customer } from "../process/relay/customer.ts";
import { dataOf, startRelayProcess, type RelayProcess } from "../process/relay/relay-process.ts";
import type { World } from "../process/relay/world.ts";

const PASSWORD = "a password of some length";
/** What an address may send in a minute. */
const CALLS_OF_ADDRESS = 30;
const READ_PAUSE_MS = 50;
const LOG_IN_PAUSE_MS = 500;
const TIMEOUT_MS = 120_000;
const TOKENS = 1_000_000;
/** As long as it may be, and hard to rate. */
const COSTLY_PASSWORD = "aB3$xQ9!zL0pW7@kM2#vN8%cR5^tY1&uI6*oE4(sD)fG-hJ=lZ+"
  .repeat(3)
  .slice(0, 128);

/**
 * What strangers send, each address as much as its limit of a minute allows, at once. `plain` are calls that cost nothing
 * but a request, which any service has to take.
 */
export type FloodKind = "log_ins" | "resets" | "plain";

export interface FloodedRelay {
  readonly relay: RelayProcess;
  readonly neighbor: Customer;
  readonly email: string;
  readonly deviceToken: string;
}

export interface Figures {
  readonly readMs: number;
  readonly publishMs: number;
  readonly knownMs: number;
  /** Logins from new devices, each of a network of its own: how many were right, and how many refused. */
  readonly newDevices: { readonly in: number; readonly refused: number };
  readonly refusedMs: number;
  /** Calls of the flood by their status. */
  readonly flood: Readonly<Record<string, number>>;
  /** How long the slowest of those took that were refused. */
  readonly floodRefusedMs: number;
}

const from = (address: string) => ({ "x-forwarded-for": address });

/** Starts the product with a neighbor who has posted nothing yet, and whose device is known. */
export async function startFlooded(world: World, bcryptCost: number): Promise<FloodedRelay> {
  // The host adds the address of this process; the one before it is the caller's.
  const settings = {
    ...world.settings,
    BCRYPT_COST: String(bcryptCost),
    TRUSTED_PROXY_HOPS: "2",
  };
  const relay = await startRelayProcess({ settings });
  const email = `owner-${randomBytes(8).toString("hex")}@example.com`;
  const signUp = { email, password: PASSWORD, platformName: "Corner Media" };
  const { platform, token, deviceToken } = dataOf(
    await relay.call("POST", "/v1/auth/signup", { body: signUp }),
  );
  const operator = await world.issuer.token({ roles: ["Admin"] });
  const credit = { platformId: platform.id, tokens: TOKENS };
  dataOf(await relay.call("POST", "/v1/billing/admin/credit", { bearer: operator, body: credit }));
  const body = { name: "Planner" };
  const made = dataOf(await relay.call("POST", "/v1/applications", { bearer: token, body }));
  const key: string = made.apiKey.secret;
  const title = { title: "Corner Bakery" };
  const profile = dataOf(await relay.call("POST", "/v1/profiles", { bearer: key, body: title }));
  const neighbor = {
    platformId: platform.id,
    session: token,
    applicationId: made.id,
    key,
    profileId: profile.id,
  };
  await linkMastodon(relay, neighbor, "gotosocial.sandbox.test");
  return { relay, neighbor, email, deviceToken };
}

/** Sends a flood from so many addresses, each of a network of its own. Returns the status of each call and its time. */
async function flood(relay: RelayProcess, kind: FloodKind, addresses: number) {
  const calls = Array.from({ length: addresses * CALLS_OF_ADDRESS }, async (_, index) => {
    const headers = from(`10.${index % addresses}.0.1`);
    const [path, body] =
      kind === "log_ins"
        ? [
            "/v1/auth/login",
            { email: `nobody-${randomBytes(8).toString("hex")}@example.com`, password: PASSWORD },
          ]
        : ["/v1/auth/reset/confirm", { token: 5, newPassword: COSTLY_PASSWORD }];
    const startedAt = performance.now();
    const timeoutMs = TIMEOUT_MS;
    const called =
      kind === "plain"
        ? relay.call("GET", "/health", { headers, timeoutMs })
        : relay.call("POST", path, { headers, body, timeoutMs });
    const status = await called.then(
      (answer) => String(answer.status),
      () => "none",
    );
    return { status, ms: performance.now() - startedAt };
  });
  return await Promise.all(calls);
}

let posts = 0;
let visitors = 0;

/** Measures the neighbor for a time, under a flood if one is given. */
export async function measure(
  { relay, neighbor, email, deviceToken }: FloodedRelay,
  ms: number,
  attack?: { readonly kind: FloodKind; readonly addresses: number },
): Promise<Figures> {
  const flooding = attack === undefined ? [] : flood(relay, attack.kind, attack.addresses);
  const over = AbortSignal.timeout(ms);
  const slowest = async (pauseMs: number, step: () => Promise<unknown>) => {
    let longest = 0;
    do {
      const startedAt = performance.now();
      await step();
      longest = Math.max(longest, performance.now() - startedAt);
      await delay(pauseMs, undefined, { signal: over }).catch(() => undefined);
    } while (!over.aborted);
    return Math.round(longest);
  };
  const timeoutMs = TIMEOUT_MS;
  const newDevices = { in: 0, refused: 0 };
  let refusedMs = 0;
  const [readMs, publishMs, knownMs] = await Promise.all([
    slowest(READ_PAUSE_MS, async () => {
      const headers = { "x-profile-id": neighbor.profileId };
      dataOf(await relay.call("GET", "/v1/posts", { bearer: neighbor.key, headers, timeoutMs }));
    }),
    slowest(READ_PAUSE_MS, async () => {
      posts += 1;
      const body = { platforms: ["mastodon"], text: `Fresh bread ${posts}` };
      const { id } = dataOf(await publish(relay, neighbor, body));
      const post = await endedPost(relay, neighbor, id, TIMEOUT_MS);
      if (post.status !== "succeeded") throw new Error(`a post is ${post.status}`);
    }),
    slowest(LOG_IN_PAUSE_MS, async () => {
      const body = { email, password: PASSWORD, deviceToken };
      const headers = from("203.0.113.1");
      dataOf(await relay.call("POST", "/v1/auth/login", { headers, body, timeoutMs }));
    }),
    slowest(LOG_IN_PAUSE_MS, async () => {
      visitors += 1;
      const headers = from(`172.${16 + (visitors % 16)}.${visitors % 250}.1`);
      const body = { email, password: PASSWORD };
      const startedAt = performance.now();
      const { status } = await relay.call("POST", "/v1/auth/login", { headers, body, timeoutMs });
      if (status === 200) newDevices.in += 1;
      if (status !== 503) return;
      newDevices.refused += 1;
      refusedMs = Math.max(refusedMs, Math.round(performance.now() - startedAt));
    }),
  ]);
  const answers = await flooding;
  const statuses: Record<string, number> = {};
  for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
  const refused = answers.filter(({ status }) => status === "503" || status === "400");
  const floodRefusedMs = Math.round(Math.max(0, ...refused.map((answer) => answer.ms)));
  return { readMs, publishMs, knownMs, newDevices, refusedMs, flood: statuses, floodRefusedMs };
}
