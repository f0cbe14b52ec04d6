import { enabledTotp, startedTotp } from "../../setup/authenticator.ts";
import {
  aKey,
  anApplication,
  aProfile,
  type TestApplication,
  type TestProfile,
} from "../../setup/factories.ts";
import type { Relay } from "../../setup/relay.ts";
import { allow, signIn } from "../../setup/sign-in.ts";
import { linkSandboxAccount } from "../../setup/sandbox-accounts.ts";
import { createNetworkTools } from "../../../src/shared/connect/network-tools.ts";
import { newId } from "../../../src/shared/ids.ts";
import type { NetworkName } from "../../../src/shared/networks/lookup.ts";
import { dataOf, type Known } from "./known.ts";

export const PASSWORD = "a test-only password";
const SECOND_PASSWORD = "another test-only password";
const HOUR = 3_600_000;

/** A profile with accounts, as whoever publishes for it knows it. */
export interface OldPublisher {
  readonly application: TestApplication;
  readonly profile: TestProfile;
  readonly owner: {
    readonly platformId: string;
    readonly applicationId: string;
    readonly profileId: string;
  };
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function signUp(relay: Relay, email: string, platformName: string, tokens: number) {
  const body = { email, password: PASSWORD, platformName };
  const { platform, user, token } = dataOf(await relay.call("POST", "/v1/auth/signup", { body }));
  const credit = { platformId: platform.id, tokens, reference: `invoice-${platformName}` };
  dataOf(
    await relay.call("POST", "/v1/billing/admin/credit", { operator: ["Admin"], body: credit }),
  );
  return { id: String(platform.id), email, userId: String(user.id), session: String(token) };
}

export async function publisherOf(
  relay: Relay,
  application: TestApplication,
  title: string,
): Promise<OldPublisher> {
  const body = { title, externalId: `crm-${title}`, metadata: { branch: title } };
  const profile = await aProfile(relay, application, body);
  return {
    application,
    profile,
    owner: {
      platformId: application.platform.id,
      applicationId: application.id,
      profileId: profile.id,
    },
    key: application.key,
    headers: { "x-profile-id": profile.id },
  };
}

export const link = (
  relay: Relay,
  { owner }: OldPublisher,
  network: NetworkName,
  form?: Readonly<Record<string, string>>,
) => linkSandboxAccount(relay.services, owner, network, form === undefined ? {} : { form });

/** Linked by a process that ended before it told anybody. */
export async function linkUntold(
  { services }: Relay,
  { owner }: OldPublisher,
  network: NetworkName,
  form: Readonly<Record<string, string>>,
): Promise<void> {
  const outcome = await signIn(network, form, {
    tools: createNetworkTools(services, network),
    decide: (page) => allow(services.outbound.browserUrl(page)),
  });
  if (outcome.kind === "failed") throw new Error(outcome.code);
  const id = newId("connection", services.clock.now());
  await services.connections.saveLinked({ ...owner, id, network, linked: outcome.linked });
}

async function users(relay: Relay, session: string, known: Known): Promise<void> {
  const create = async (email: string) =>
    dataOf(await relay.call("POST", "/v1/users", { session, body: { email, password: PASSWORD } }));
  const logIn = async (email: string, password = PASSWORD, totpCode?: string) => {
    const body = { email, password, ...(totpCode === undefined ? {} : { totpCode }) };
    return String(dataOf(await relay.call("POST", "/v1/auth/login", { body })).token);
  };
  await create("totp@example.com");
  const app = await enabledTotp(relay, await logIn("totp@example.com"));
  const [first = "", ...codes] = app.recoveryCodes;
  await logIn("totp@example.com", PASSWORD, first);
  known.users.totp = {
    email: "totp@example.com",
    password: PASSWORD,
    totpSecret: app.secret,
    usedRecoveryCode: first,
    recoveryCodes: codes,
  };
  await create("unconfirmed@example.com");
  await startedTotp(relay, await logIn("unconfirmed@example.com"));
  known.users.unconfirmed = { email: "unconfirmed@example.com", password: PASSWORD };
  await create("changed@example.com");
  const body = { currentPassword: PASSWORD, newPassword: SECOND_PASSWORD };
  const changing = await logIn("changed@example.com");
  dataOf(await relay.call("POST", "/v1/auth/password", { session: changing, body }));
  known.users.changed = {
    email: "changed@example.com",
    password: SECOND_PASSWORD,
    formerPassword: PASSWORD,
  };
  const { id } = await create("removed@example.com");
  dataOf(await relay.call("DELETE", `/v1/users/${id}`, { session }));
  known.users.removed = { email: "removed@example.com", password: PASSWORD };
}

async function keys(relay: Relay, application: TestApplication, bakery: string, known: Known) {
  const later = (ms: number) => new Date(relay.clock.now().getTime() + ms).toISOString();
  const allowedProfileIds = [bakery];
  known.keys.admin = { id: application.keyId, secret: application.key };
  known.keys.restricted = await aKey(relay, application, {
    scope: "restricted",
    allowedProfileIds,
    name: "Of the bakery",
  });
  known.keys.restrictedToNothing = await aKey(relay, application, { scope: "restricted" });
  known.keys.expired = await aKey(relay, application, { expiresAt: later(HOUR) });
  known.keys.expiring = await aKey(relay, application, { expiresAt: later(2_000 * HOUR) });
  known.keys.revoked = await aKey(relay, application, { name: "Lost" });
  const revoke = `/v1/keys/${known.keys.revoked.id}/revoke`;
  dataOf(await relay.call("POST", revoke, { key: application.key }));
  // Minted by a session and not by a key, and by a key that is gone by now.
  const call = {
    session: application.platform.session,
    body: { applicationId: application.id, name: "By a session" },
  };
  const { id, secret } = dataOf(await relay.call("POST", "/v1/keys", call));
  known.keys.bySession = { id, secret };
  const minter = await aKey(relay, application);
  known.keys.byDeletedKey = await aKey(relay, { ...application, key: minter.secret });
  dataOf(await relay.call("DELETE", `/v1/keys/${minter.id}`, { key: application.key }));
  known.keys.deleted = minter;
  known.keys.renamed = await aKey(relay, application);
  dataOf(
    await relay.call("PATCH", `/v1/keys/${known.keys.renamed.id}`, {
      key: application.key,
      body: { name: "Another name" },
    }),
  );
}

export interface OldTenants {
  readonly application: TestApplication;
  readonly bakery: OldPublisher;
}

/** Platforms, staff, applications, keys and profiles, of before pepper and data key were rotated. */
export async function oldTenants(relay: Relay, known: Known): Promise<OldTenants> {
  const platform = await signUp(relay, "owner@example.com", "Example Media", 10_000);
  known.platforms.main = platform.id;
  known.users.owner = { email: platform.email, password: PASSWORD };
  known.sessions.expired = platform.session;
  const application = await anApplication(relay, platform, { name: "Planner" });
  known.applications.planner = application.id;
  const bakery = await publisherOf(relay, application, "Bakery");
  known.profiles.bakery = bakery.profile.id;
  await users(relay, platform.session, known);
  await keys(relay, application, bakery.profile.id, known);

  const off = await anApplication(relay, platform, { name: "Switched off" });
  const disable = { session: platform.session, body: { status: "disabled" } };
  dataOf(await relay.call("PATCH", `/v1/applications/${off.id}`, disable));
  known.applications.disabled = off.id;
  known.keys.ofDisabledApplication = { id: off.keyId, secret: off.key };

  const disabled = await publisherOf(relay, application, "Closed for the winter");
  const closing = { key: application.key, body: { status: "disabled" } };
  dataOf(await relay.call("PATCH", `/v1/profiles/${disabled.profile.id}`, closing));
  known.profiles.disabled = disabled.profile.id;

  const suspended = await signUp(relay, "suspended@example.com", "Suspended Media", 50);
  const its = await anApplication(relay, suspended);
  known.platforms.suspended = suspended.id;
  known.users.suspended = { email: suspended.email, password: PASSWORD };
  known.keys.ofSuspendedPlatform = { id: its.keyId, secret: its.key };
  const suspend = { operator: ["Admin"], body: { status: "suspended" } };
  dataOf(await relay.call("PATCH", `/v1/admin/platforms/${suspended.id}`, suspend));
  return { application, bakery };
}

/** A platform that has spent most of what it had, and was told. */
export async function smallPlatform(relay: Relay, known: Known): Promise<OldPublisher> {
  const platform = await signUp(relay, "small@example.com", "Small Media", 101);
  known.platforms.small = platform.id;
  known.users.small = { email: platform.email, password: PASSWORD };
  const application = await anApplication(relay, platform, { name: "Small planner" });
  known.keys.small = { id: application.keyId, secret: application.key };
  return publisherOf(relay, application, "Kiosk");
}
