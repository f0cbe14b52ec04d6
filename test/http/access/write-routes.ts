import { randomBytes } from "node:crypto";
import { newId } from "../../../src/shared/runtime/ids.ts";
import { enabledTotp, startedTotp } from "../../setup/authenticator.ts";
import {
  aKey,
  aLinkedAccount,
  anApplication,
  aProfile,
  dataOf,
  PASSWORD,
  type TestApplication,
  type TestKey,
} from "../../setup/factories.ts";
import type { CallOptions, Relay } from "../../setup/relay.ts";
import { saveLinked } from "../../setup/stored.ts";
import { aPicture, send } from "../../setup/uploads.ts";

/** A customer with everything that a request may be about, and callers whose access can be taken away. */
export interface Customer extends TestApplication {
  readonly owner: string;
  readonly profileId: string;
  /** A member of staff who is logged in. */
  readonly colleague: {
    readonly id: string;
    readonly email: string;
    readonly session: string;
    /** Another session of the same person. */
    readonly elsewhere: string;
  };
  /** An `app_admin` key that another one made. */
  readonly admin: TestKey;
  readonly maker: TestKey;
  /** A restricted key with the profile on its allowlist, and one that needs a grant for it. */
  readonly restricted: TestKey;
  readonly unlisted: TestKey;
  readonly unique: string;
}

export type As = "admin" | "restricted" | "session" | "granted by a key" | "granted by a user";

const logIn = async (relay: Relay, email: string): Promise<string> => {
  const body = { email, password: PASSWORD };
  return dataOf(await relay.call("POST", "/v1/auth/login", { body })).token;
};

const NO_KEY: TestKey = { id: "", secret: "" };
const NOBODY = { id: "", email: "", session: "", elsewhere: "" };

async function aColleague(relay: Relay, owner: string): Promise<Customer["colleague"]> {
  const email = `colleague-${randomBytes(8).toString("hex")}@example.com`;
  const body = { email, password: PASSWORD, role: "owner" };
  const { id } = dataOf(await relay.call("POST", "/v1/users", { session: owner, body }));
  return { id, email, session: await logIn(relay, email), elsewhere: await logIn(relay, email) };
}

/** Makes a customer with the callers that a request of this kind needs. */
export async function aCustomer(relay: Relay, as: As): Promise<Customer> {
  const application = await anApplication(relay);
  const owner = application.platform.session;
  const { id: profileId } = await aProfile(relay, application);
  const needs = (...kinds: readonly As[]) => kinds.includes(as);
  const restricted = (allowedProfileIds: readonly string[]) =>
    aKey(relay, application, { scope: "restricted", allowedProfileIds });
  const maker = needs("admin", "granted by a key") ? await aKey(relay, application) : NO_KEY;
  const byMaker = { ...application, key: maker.secret };
  return {
    ...application,
    owner,
    profileId,
    colleague: needs("session", "granted by a user") ? await aColleague(relay, owner) : NOBODY,
    maker,
    admin: needs("admin") ? await aKey(relay, byMaker) : NO_KEY,
    restricted: needs("restricted") ? await restricted([profileId]) : NO_KEY,
    unlisted: needs("granted by a key", "granted by a user") ? await restricted([]) : NO_KEY,
    unique: randomBytes(8).toString("hex"),
  };
}

/** A request, without its caller. */
interface Asked {
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

type Ask = (customer: Customer, relay: Relay) => Asked | Promise<Asked>;

/**
 * Whose access the test takes away while a request is under way. `admin` and `profile`: of keys and of people.
 * `publishing`: those, of an active profile.
 */
interface Write {
  readonly callers: "session" | "admin" | "profile" | "publishing";
  readonly ask: Ask;
}

const call = async (relay: Relay, method: string, path: string, options: CallOptions) =>
  dataOf(await relay.call(method, path, options));

async function anEndpoint({ key, unique }: Customer, relay: Relay): Promise<string> {
  const body = { url: `https://hooks.example.com/${unique}` };
  return (await call(relay, "POST", "/v1/webhooks", { key, body })).id;
}

async function aDelivery(customer: Customer, relay: Relay): Promise<string> {
  const webhookId = await anEndpoint(customer, relay);
  const path = `/v1/webhooks/${webhookId}`;
  const { key } = customer;
  const { id } = await call(relay, "POST", `${path}/test`, { key });
  await relay.drain();
  return `${path}/deliveries/${id}`;
}

async function aConnection({ platform, id, profileId }: Customer, relay: Relay): Promise<string> {
  const owner = { platformId: platform.id, applicationId: id, profileId };
  const account = newId("connection", relay.clock.now());
  return await saveLinked(relay.services, owner, "mastodon", aLinkedAccount(account));
}

/** A file that is announced. */
function aFile(customer: Customer, relay: Relay, bytes: number) {
  const headers = ofProfile(customer);
  const body = { contentType: "image/jpeg", bytes };
  return call(relay, "POST", "/v1/media", { key: customer.key, headers, body });
}

/** A post with a leg for the linked account, and one that fails because no account is linked. */
async function aPost(customer: Customer, relay: Relay, more: object = {}): Promise<string> {
  await aConnection(customer, relay);
  const { key, profileId, unique } = customer;
  const headers = { "x-profile-id": profileId, "idempotency-key": `post-${unique}` };
  const body = { text: `A text ${unique}`, platforms: ["mastodon", "bluesky"], ...more };
  return (await call(relay, "POST", "/v1/posts", { key, headers, body })).id;
}

const inAnHour = (relay: Relay) => new Date(relay.clock.now().getTime() + 3_600_000).toISOString();

const scheduled = async (customer: Customer, relay: Relay) =>
  `/v1/posts/${await aPost(customer, relay, {
    platforms: ["mastodon"],
    scheduleAt: inAnHour(relay),
  })}`;

const ofProfile = ({ profileId }: Customer) => ({ "x-profile-id": profileId });
const ofApplication = ({ id }: Customer) => ({ "x-application-id": id });

async function aSession({ key, profileId }: Customer, relay: Relay): Promise<string> {
  const path = `/v1/profiles/${profileId}/connect/sessions`;
  return (await call(relay, "POST", path, { key, body: {} })).id;
}

async function aStranger({ unique, owner }: Customer, relay: Relay): Promise<string> {
  const body = { email: `stranger-${unique}@example.com`, password: PASSWORD };
  return (await call(relay, "POST", "/v1/users", { session: owner, body })).id;
}

async function anotherKey({ key, profileId }: Customer, relay: Relay): Promise<string> {
  const body = { name: "To be ended", scope: "restricted", allowedProfileIds: [profileId] };
  return (await call(relay, "POST", "/v1/keys", { key, body })).id;
}

/** Every route that writes for a customer. */
export const WRITES: Readonly<Record<string, Write>> = {
  "POST v1/auth/logout": { callers: "session", ask: () => ({ path: "/v1/auth/logout" }) },
  "POST v1/auth/password": {
    callers: "session",
    ask: () => ({
      path: "/v1/auth/password",
      body: { currentPassword: PASSWORD, newPassword: "another password of some length" },
    }),
  },
  "POST v1/auth/totp": { callers: "session", ask: () => ({ path: "/v1/auth/totp" }) },
  "POST v1/auth/totp/confirm": {
    callers: "session",
    async ask({ colleague }, relay) {
      const { code } = await startedTotp(relay, colleague.session);
      return { path: "/v1/auth/totp/confirm", body: { code: code() } };
    },
  },
  "DELETE v1/auth/totp": {
    callers: "session",
    async ask({ colleague }, relay) {
      const { code } = await enabledTotp(relay, colleague.session);
      return { path: "/v1/auth/totp", body: { password: PASSWORD, code: code() } };
    },
  },
  "POST v1/auth/totp/remove": {
    callers: "session",
    async ask({ colleague }, relay) {
      const { code } = await enabledTotp(relay, colleague.session);
      return { path: "/v1/auth/totp/remove", body: { password: PASSWORD, code: code() } };
    },
  },
  "POST v1/auth/confirm": {
    callers: "session",
    async ask({ colleague }, relay) {
      const { code } = await enabledTotp(relay, colleague.session);
      return { path: "/v1/auth/confirm", body: { password: PASSWORD, totpCode: code() } };
    },
  },
  "POST v1/platform/close": {
    callers: "session",
    ask: () => ({ path: "/v1/platform/close", body: { name: "Example Media" } }),
  },
  "POST v1/users": {
    callers: "session",
    ask: ({ unique }) => ({
      path: "/v1/users",
      body: { email: `stranger-${unique}@example.com`, password: PASSWORD },
    }),
  },
  "PATCH v1/users/{userId}": {
    callers: "session",
    ask: async (customer, relay) => ({
      path: `/v1/users/${await aStranger(customer, relay)}`,
      body: { role: "owner" },
    }),
  },
  "DELETE v1/users/{userId}": {
    callers: "session",
    ask: async (customer, relay) => ({ path: `/v1/users/${await aStranger(customer, relay)}` }),
  },
  "POST v1/invitations": {
    callers: "session",
    ask: ({ unique }) => ({
      path: "/v1/invitations",
      body: { email: `invited-${unique}@example.com` },
    }),
  },
  "DELETE v1/invitations/{invitationId}": {
    callers: "session",
    async ask({ unique, owner }, relay) {
      const body = { email: `invited-${unique}@example.com` };
      const { id } = await call(relay, "POST", "/v1/invitations", { session: owner, body });
      return { path: `/v1/invitations/${id}` };
    },
  },
  "POST v1/applications": {
    callers: "session",
    ask: () => ({ path: "/v1/applications", body: { name: "Another" } }),
  },
  "PATCH v1/applications/{applicationId}": {
    callers: "session",
    async ask({ platform }, relay) {
      const { id } = await anApplication(relay, platform);
      const body = { name: "Renamed", status: "disabled" };
      return { path: `/v1/applications/${id}`, body };
    },
  },
  "POST v1/keys": {
    callers: "admin",
    ask: (customer) => ({
      path: "/v1/keys",
      headers: ofApplication(customer),
      body: { name: "Another" },
    }),
  },
  "PATCH v1/keys/{keyId}": {
    callers: "admin",
    ask: async (customer, relay) => ({
      path: `/v1/keys/${await anotherKey(customer, relay)}`,
      body: { name: "Renamed" },
    }),
  },
  "DELETE v1/keys/{keyId}": {
    callers: "admin",
    ask: async (customer, relay) => ({ path: `/v1/keys/${await anotherKey(customer, relay)}` }),
  },
  "POST v1/keys/{keyId}/revoke": {
    callers: "admin",
    ask: async (customer, relay) => ({
      path: `/v1/keys/${await anotherKey(customer, relay)}/revoke`,
    }),
  },
  "POST v1/profiles": {
    callers: "admin",
    ask: (customer) => ({
      path: "/v1/profiles",
      headers: ofApplication(customer),
      body: { title: "Another", externalId: "another" },
    }),
  },
  "PATCH v1/profiles/{profileId}": {
    callers: "profile",
    ask: ({ profileId }) => ({
      path: `/v1/profiles/${profileId}`,
      body: { title: "Renamed", externalId: "renamed", status: "disabled" },
    }),
  },
  "DELETE v1/profiles/{profileId}": {
    callers: "profile",
    ask: ({ profileId }) => ({ path: `/v1/profiles/${profileId}` }),
  },
  "POST v1/profiles/{profileId}/erase": {
    callers: "admin",
    ask: ({ profileId }) => ({ path: `/v1/profiles/${profileId}/erase` }),
  },
  "DELETE v1/profiles/{profileId}/connections/{connectionId}": {
    callers: "profile",
    ask: async (customer, relay) => ({
      path: `/v1/profiles/${customer.profileId}/connections/${await aConnection(customer, relay)}`,
    }),
  },
  "POST v1/profiles/{profileId}/connect/sessions": {
    callers: "publishing",
    ask: ({ profileId }) => ({ path: `/v1/profiles/${profileId}/connect/sessions`, body: {} }),
  },
  "POST v1/connect/sessions/{sessionId}/cancel": {
    callers: "profile",
    ask: async (customer, relay) => ({
      path: `/v1/connect/sessions/${await aSession(customer, relay)}/cancel`,
    }),
  },
  "POST v1/media": {
    callers: "publishing",
    ask: (customer) => ({
      path: "/v1/media",
      headers: ofProfile(customer),
      body: { contentType: "image/jpeg", bytes: 1_000 },
    }),
  },
  "POST v1/media/{mediaId}/complete": {
    callers: "publishing",
    async ask(customer, relay) {
      const picture = await aPicture();
      const file = await aFile(customer, relay, picture.length);
      await send(file, picture);
      return { path: `/v1/media/${file.id}/complete`, headers: ofProfile(customer) };
    },
  },
  "DELETE v1/media/{mediaId}": {
    callers: "profile",
    async ask(customer, relay) {
      const file = await aFile(customer, relay, 1_000);
      return { path: `/v1/media/${file.id}`, headers: ofProfile(customer) };
    },
  },
  "POST v1/posts/validate": {
    callers: "publishing",
    ask: (customer) => ({
      path: "/v1/posts/validate",
      headers: ofProfile(customer),
      body: { text: "To be checked", platforms: ["mastodon"] },
    }),
  },
  "POST v1/posts": {
    callers: "publishing",
    async ask(customer, relay) {
      await aConnection(customer, relay);
      const headers = { ...ofProfile(customer), "idempotency-key": `post-${customer.unique}` };
      return { path: "/v1/posts", headers, body: { text: "A text", platforms: ["mastodon"] } };
    },
  },
  "PATCH v1/posts/{postId}": {
    callers: "publishing",
    ask: async (customer, relay) => ({
      path: await scheduled(customer, relay),
      headers: ofProfile(customer),
      body: { text: "Another text" },
    }),
  },
  "DELETE v1/posts/{postId}": {
    callers: "profile",
    ask: async (customer, relay) => ({
      path: await scheduled(customer, relay),
      headers: ofProfile(customer),
    }),
  },
  "POST v1/posts/{postId}/retry": {
    callers: "publishing",
    ask: async (customer, relay) => ({
      path: `/v1/posts/${await aPost(customer, relay)}/retry`,
      headers: ofProfile(customer),
      body: { platforms: ["bluesky"] },
    }),
  },
  "POST v1/posts/{postId}/remove": {
    callers: "profile",
    ask: async (customer, relay) => ({
      path: `/v1/posts/${await aPost(customer, relay)}/remove`,
      headers: ofProfile(customer),
      body: { platforms: ["bluesky"] },
    }),
  },
  "PATCH v1/platform/notices": {
    callers: "session",
    ask: () => ({ path: "/v1/platform/notices", body: { balanceLow: false } }),
  },
  "PATCH v1/billing/limits": {
    callers: "admin",
    ask: () => ({ path: "/v1/billing/limits", body: { dailyTokenBudget: 77 } }),
  },
  "POST v1/webhooks": {
    callers: "admin",
    ask: (customer) => ({
      path: "/v1/webhooks",
      headers: ofApplication(customer),
      body: { url: "https://hooks.example.com/another" },
    }),
  },
  "PATCH v1/webhooks/{webhookId}": {
    callers: "admin",
    ask: async (customer, relay) => ({
      path: `/v1/webhooks/${await anEndpoint(customer, relay)}`,
      body: { url: "https://hooks.example.com/elsewhere", events: ["post.succeeded"] },
    }),
  },
  "DELETE v1/webhooks/{webhookId}": {
    callers: "admin",
    ask: async (customer, relay) => ({
      path: `/v1/webhooks/${await anEndpoint(customer, relay)}`,
    }),
  },
  "POST v1/webhooks/{webhookId}/rotate-secret": {
    callers: "admin",
    ask: async (customer, relay) => ({
      path: `/v1/webhooks/${await anEndpoint(customer, relay)}/rotate-secret`,
    }),
  },
  "POST v1/webhooks/{webhookId}/test": {
    callers: "admin",
    ask: async (customer, relay) => ({
      path: `/v1/webhooks/${await anEndpoint(customer, relay)}/test`,
    }),
  },
  "POST v1/webhooks/{webhookId}/deliveries/{deliveryId}/redrive": {
    callers: "admin",
    ask: async (customer, relay) => ({ path: `${await aDelivery(customer, relay)}/redrive` }),
  },
};

const OPERATORS = "an operator's access is the identity provider's to take away, and not ours";
const BROWSERS = "a browser has a link to the page and no credential of the API";
const SIGNING = "a stranger proves who they are in the request itself";

/** Routes that are no GET and where no access can be taken away, or nothing is written. */
const LINKS = "a one-time link is checked in the transaction that uses it";

export const NOT_CHECKED: Readonly<Record<string, string>> = {
  "POST v1/auth/signup": SIGNING,
  "POST v1/auth/login": SIGNING,
  "POST v1/auth/verify": LINKS,
  "POST v1/auth/email": "it mails a link, which asks for the password once more",
  "POST v1/auth/verify/resend": "it mails a link to the session's own user, which allows nothing",
  "POST v1/auth/reset": LINKS,
  "POST v1/auth/reset/confirm": LINKS,
  "POST v1/auth/invitations/accept": LINKS,
  "POST v1/auth/ui/{kind}": LINKS,
  "POST v1/auth/notices/off": LINKS,
  "POST v1/profile-grants": "nothing is stored, and a grant ends with the key or user it is from",
  "POST v1/connect/ui/done": BROWSERS,
  "POST v1/connect/ui/{network}": BROWSERS,
  "POST v1/connect/meta/deauthorize": "Meta signs its request",
  "POST v1/connect/meta/delete": "Meta signs its request",
  "POST v1/billing/admin/credit": OPERATORS,
  "POST v1/admin/platforms": OPERATORS,
  "PATCH v1/admin/platforms/{platformId}": OPERATORS,
  "POST v1/admin/platforms/{platformId}/users/{userId}/reset-link": OPERATORS,
  "DELETE v1/admin/platforms/{platformId}/users/{userId}": OPERATORS,
  "POST v1/admin/webhooks/redrive-dead": OPERATORS,
};
