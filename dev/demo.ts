import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import { NETWORKS } from "../sandbox/registry.ts";
import { ApiRefusal, createApiClient } from "./api-client.ts";
import type { ApiClient } from "./api-client.ts";
import { linkInBrowser } from "./demo-visit.ts";

const TOKENS = 100_000;
/** A demo that has been used a lot gets new tokens when fewer are left. */
const TOKENS_LOW = 1_000;
/** A mail is there within a second or two, and within a minute where its first message was lost. */
const MAIL_POLL_MS = 100;
const MAIL_POLLS = 900;
const CONNECT_PAGE_SECONDS = 48 * 3600;

/** The networks that the sandbox has: those of the product. */
export const DEMO_NETWORKS: readonly string[] = Object.keys(NETWORKS);

const Owned = z.object({
  platformId: z.string(),
  applicationId: z.string(),
  email: z.string(),
  password: z.string(),
  apiKey: z.string(),
  /** Every network is linked to it. */
  profileId: z.string(),
  /** Nothing is linked to it by us: for trying the connect page. */
  visitorProfileId: z.string(),
});
type Owned = z.output<typeof Owned>;

export interface Demo extends Owned {
  readonly baseUrl: string;
  readonly sandboxUrl: string;
  readonly operatorToken: string;
  readonly connectUrl: string;
}

export interface DemoOptions {
  readonly baseUrl: string;
  readonly sandboxUrl: string;
  /** Valid for long, with the role Admin. */
  readonly operatorToken: string;
  /** Where it is kept between starts. */
  readonly file: string;
}

/**
 * A customer with tokens, a key and linked accounts, made over HTTP alone as a customer would. One that was made before
 * is used again as long as its key works; whatever it lacks by now is added.
 */
export async function openDemo(options: DemoOptions): Promise<Demo> {
  const { baseUrl, sandboxUrl, operatorToken, file } = options;
  const api = createApiClient(baseUrl);
  const owned = (await findWorking(api, file)) ?? (await makeCustomer(api, sandboxUrl));
  const kept = { baseUrl, sandboxUrl, operatorToken, ...owned };
  // Before anything else is done, so that a start that fails half-way does not leave a customer behind each time.
  save(file, kept);
  await topUp(api, owned, operatorToken);
  await linkMissing(api, owned);
  const demo = { ...kept, connectUrl: await openConnectPage(api, owned) };
  save(file, demo);
  return demo;
}

function save(file: string, demo: Omit<Demo, "connectUrl">): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function readDemo(file: string): Owned | undefined {
  try {
    return Owned.safeParse(JSON.parse(readFileSync(file, "utf8"))).data;
  } catch {
    return undefined;
  }
}

async function findWorking(api: ApiClient, file: string): Promise<Owned | undefined> {
  const owned = readDemo(file);
  if (owned === undefined) return undefined;
  try {
    for (const profileId of [owned.profileId, owned.visitorProfileId])
      await api.call("GET", `v1/profiles/${profileId}`, { token: owned.apiKey });
    return owned;
  } catch (error) {
    // The data it belonged to is gone, or its owner revoked the key. Anything else is no reason for another customer.
    if (error instanceof ApiRefusal && [401, 403, 404].includes(error.status)) return undefined;
    throw error;
  }
}

const SignedUp = z.object({
  token: z.string(),
  platform: z.object({ id: z.string() }),
  user: z.object({ emailVerified: z.boolean() }),
});
const Application = z.object({ id: z.string(), apiKey: z.object({ secret: z.string() }) });
const Profile = z.object({ id: z.string() });

const Mails = z.object({ mails: z.array(z.object({ links: z.array(z.string()) })) });

/** Verifies an email as its owner would: with the link in the mailbox, and the password. */
async function verifyEmail(
  api: ApiClient,
  sandboxUrl: string,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<void> {
  const address = `${sandboxUrl}/_sandbox/mails?to=${encodeURIComponent(email)}`;
  for (let poll = 0; poll < MAIL_POLLS; poll += 1) {
    const { mails } = Mails.parse(await (await fetch(address)).json());
    const link = mails.at(-1)?.links[0];
    if (link !== undefined) {
      const token = new URL(link).searchParams.get("token");
      await api.call("POST", "v1/auth/verify", { body: { token, password } });
      return;
    }
    await wait(MAIL_POLL_MS);
  }
  throw new Error("the demo's mail did not arrive in the sandbox's mailbox");
}

async function makeCustomer(api: ApiClient, sandboxUrl: string): Promise<Owned> {
  const email = `demo-${randomBytes(4).toString("hex")}@example.com`;
  const password = randomBytes(15).toString("base64url");
  const signedUp = SignedUp.parse(
    await api.call("POST", "v1/auth/signup", {
      body: { email, password, platformName: "Demo platform" },
    }),
  );
  if (!signedUp.user.emailVerified) await verifyEmail(api, sandboxUrl, { email, password });
  const application = Application.parse(
    await api.call("POST", "v1/applications", {
      token: signedUp.token,
      body: { name: "Demo application" },
    }),
  );
  const apiKey = application.apiKey.secret;
  const newProfile = async (title: string) =>
    Profile.parse(await api.call("POST", "v1/profiles", { token: apiKey, body: { title } })).id;
  return {
    platformId: signedUp.platform.id,
    applicationId: application.id,
    email,
    password,
    apiKey,
    profileId: await newProfile("Demo profile"),
    visitorProfileId: await newProfile("Connect page visitor"),
  };
}

const Balance = z.object({ available: z.number() });

async function topUp(api: ApiClient, owned: Owned, operatorToken: string): Promise<void> {
  const { available } = Balance.parse(
    await api.call("GET", "v1/billing/balance", { token: owned.apiKey }),
  );
  if (available >= TOKENS_LOW) return;
  await api.call("POST", "v1/billing/admin/credit", {
    token: operatorToken,
    body: { platformId: owned.platformId, tokens: TOKENS, note: "Demo tokens" },
  });
}

const Connections = z.array(z.object({ platform: z.string(), status: z.string() }));
const ConnectSession = z.object({ connectUrl: z.string() });

async function missingNetworks(api: ApiClient, { profileId, apiKey }: Owned): Promise<string[]> {
  const connections = Connections.parse(
    await api.call("GET", `v1/profiles/${profileId}/connections`, { token: apiKey }),
  );
  const active = connections.filter(({ status }) => status === "active");
  return DEMO_NETWORKS.filter((name) => active.every(({ platform }) => platform !== name));
}

async function linkMissing(api: ApiClient, owned: Owned): Promise<void> {
  const platforms = await missingNetworks(api, owned);
  if (platforms.length === 0) return;
  const path = `v1/profiles/${owned.profileId}/connect/sessions`;
  const body = { platforms };
  const { connectUrl } = ConnectSession.parse(
    await api.call("POST", path, { token: owned.apiKey, body }),
  );
  for (const network of platforms) await linkInBrowser(connectUrl, network);
  const missing = await missingNetworks(api, owned);
  if (missing.length > 0) throw new Error(`${missing.join(" and ")} could not be linked`);
}

async function openConnectPage(api: ApiClient, owned: Owned): Promise<string> {
  const path = `v1/profiles/${owned.visitorProfileId}/connect/sessions`;
  const branding = { name: "Demo application" };
  const body = { platforms: DEMO_NETWORKS, expiresIn: CONNECT_PAGE_SECONDS, branding };
  const answer = await api.call("POST", path, { token: owned.apiKey, body });
  return ConnectSession.parse(answer).connectUrl;
}
