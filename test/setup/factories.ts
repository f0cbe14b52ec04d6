import { randomBytes } from "node:crypto";
import type { LinkedAccount } from "../../src/shared/networks/contract/link.ts";
import type { Answer, CallOptions, Relay } from "./relay.ts";

const TOKENS = 10_000;
export const PASSWORD = "a password of some length";

/** The `data` of an answer that has to be a success. */
export function dataOf(answer: Answer) {
  if (answer.status >= 300)
    throw new Error(`unexpected ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body.data;
}

/** An answer in a word or two: its status, and the code of what was refused. */
export const outcomeOf = ({ status, body }: Answer) =>
  status < 300 ? String(status) : `${status} ${String(body.error.code)}`;

export interface TestPlatform {
  readonly id: string;
  readonly email: string;
  readonly userId: string;
  readonly session: string;
}

/** A platform of its own for a test: signed up, with tokens in its wallet. */
export async function aPlatform(
  relay: Relay,
  options: { readonly tokens?: number; readonly name?: string } = {},
): Promise<TestPlatform> {
  const email = `owner-${randomBytes(8).toString("hex")}@example.com`;
  const body = { email, password: PASSWORD, platformName: options.name ?? "Example Media" };
  const { platform, user, token } = dataOf(await relay.call("POST", "/v1/auth/signup", { body }));
  const tokens = options.tokens ?? TOKENS;
  if (tokens > 0) {
    const credit = { platformId: platform.id, tokens };
    const call = { operator: ["Admin"], body: credit };
    dataOf(await relay.call("POST", "/v1/billing/admin/credit", call));
  }
  return { id: platform.id, email, userId: user.id, session: token };
}

/** The session of an owner who has just logged in again, as what needs a fresh confirmation asks for. */
export async function freshSession(
  relay: Relay,
  { email }: Pick<TestPlatform, "email">,
): Promise<string> {
  const body = { email, password: PASSWORD };
  return dataOf(await relay.call("POST", "/v1/auth/login", { body })).token;
}

export interface TestApplication {
  readonly id: string;
  readonly platform: TestPlatform;
  /** Secret of its `app_admin` key. */
  readonly key: string;
  readonly keyId: string;
}

/** An application with its default key; of a platform of its own when none is given. */
export async function anApplication(
  relay: Relay,
  of?: TestPlatform,
  body: Readonly<Record<string, unknown>> = {},
): Promise<TestApplication> {
  const platform = of ?? (await aPlatform(relay));
  const create = (session: string) =>
    relay.call("POST", "/v1/applications", { session, body: { name: "Planner", ...body } });
  const first = await create(platform.session);
  const isStale = first.body?.error?.code === "confirmation_required";
  const { id, apiKey } = dataOf(
    isStale ? await create(await freshSession(relay, platform)) : first,
  );
  return { id, platform, key: apiKey?.secret ?? "", keyId: apiKey?.id ?? "" };
}

export interface TestKey {
  readonly id: string;
  readonly secret: string;
}

export async function aKey(
  relay: Relay,
  application: TestApplication,
  body: Readonly<Record<string, unknown>> = {},
): Promise<TestKey> {
  const call: CallOptions = { key: application.key, body };
  const { id, secret } = dataOf(await relay.call("POST", "/v1/keys", call));
  return { id, secret };
}

export interface TestProfile {
  readonly id: string;
  readonly applicationId: string;
}

export async function aProfile(
  relay: Relay,
  application: TestApplication,
  body: Readonly<Record<string, unknown>> = {},
): Promise<TestProfile> {
  const call = { key: application.key, body: { title: "Corner Bakery", ...body } };
  const { id, applicationId } = dataOf(await relay.call("POST", "/v1/profiles", call));
  return { id, applicationId };
}

/** A Bluesky account that logged in on the hosted page. */
export function aLinkedAccount(id: string, more: Partial<LinkedAccount> = {}): LinkedAccount {
  return {
    account: {
      id,
      username: id,
      displayName: id,
      avatarUrl: null,
      url: `https://bsky.app/profile/${id}`,
      kind: "account",
    },
    credentials: {},
    instanceUrl: null,
    scopes: [],
    limits: {},
    expiresAt: null,
    ...more,
  };
}

/** How many accounts are linked for a platform, as its account counts them. */
export async function linkedCount({ services }: Relay, platformId: string): Promise<number> {
  const counts = [...(await services.tenants.stores.platforms.counts(platformId)).values()];
  return counts.reduce((sum, { connections }) => sum + connections, 0);
}
