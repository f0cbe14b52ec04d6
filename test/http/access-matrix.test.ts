import { beforeAll, describe, expect, test } from "vitest";
import { routes } from "../../src/functions/routes.ts";
import type { Route } from "../../src/shared/http/route.ts";
import {
  aKey,
  anApplication,
  aPlatform,
  aProfile,
  dataOf,
  PASSWORD,
  type TestApplication,
  type TestPlatform,
  type TestProfile,
} from "../setup/factories.ts";
import { type Answer, type CallOptions } from "../setup/relay.ts";
import { storedRows } from "../setup/stored-rows.ts";
import { useRelay } from "../setup/use-relay.ts";

/**
 * Who may call, said a second time and by hand: a route whose rule changes, or that has none here, fails.
 * `platform`: key or session. `admin`: app_admin key or session. `adminOfApplication`: the same, a session names the
 * application. `adminInPath`: the same, the path names the application. `application`: any key, a session names the application. `session`: no key. `profile`: the profile's own callers. `operator:<roles>`: no product credential.
 * `owner`: of sessions, an owner's; `confirmed`: of sessions, those whose user gave the password a short time ago.
 */
const RULES: Readonly<Record<string, Rule | `${Rule} ${Narrowed}`>> = {
  "GET health": "anyone",
  "GET ready": "anyone",
  "GET v1/openapi.json": "anyone",
  "GET v1/networks": "anyone",
  "GET docs": "anyone",
  "GET docs.md": "anyone",
  "GET llms.txt": "anyone",
  "POST v1/auth/signup": "anyone",
  "POST v1/auth/login": "anyone",
  "POST v1/auth/logout": "session",
  "POST v1/auth/confirm": "session",
  "POST v1/auth/password": "session",
  "POST v1/auth/verify": "anyone",
  "POST v1/auth/verify/resend": "session",
  "POST v1/auth/email": "session",
  "POST v1/auth/reset": "anyone",
  "POST v1/auth/reset/confirm": "anyone",
  "POST v1/auth/invitations/accept": "anyone",
  "GET v1/auth/notices/off": "anyone",
  "POST v1/auth/notices/off": "anyone",
  "GET v1/auth/ui/{kind}": "anyone",
  "POST v1/auth/ui/{kind}": "anyone",
  "POST v1/auth/totp": "session confirmed",
  "POST v1/auth/totp/confirm": "session",
  "DELETE v1/auth/totp": "session",
  "POST v1/auth/totp/remove": "session",
  "GET v1/users": "session",
  "POST v1/users": "session owner confirmed",
  "PATCH v1/users/{userId}": "session owner confirmed",
  "DELETE v1/users/{userId}": "session confirmed",
  "GET v1/invitations": "session",
  "POST v1/invitations": "session owner confirmed",
  "DELETE v1/invitations/{invitationId}": "session owner",
  "GET v1/me": "platform",
  "GET v1/audit": "platform",
  "POST v1/platform/close": "session owner confirmed",
  "GET v1/applications": "platform",
  "POST v1/applications": "session owner confirmed",
  "GET v1/applications/{applicationId}": "platform",
  "PATCH v1/applications/{applicationId}": "session",
  "GET v1/applications/{applicationId}/posts": "adminInPath",
  "GET v1/applications/{applicationId}/posts/{postId}": "adminInPath",
  "GET v1/applications/{applicationId}/schedule": "adminInPath",
  "GET v1/applications/{applicationId}/connections": "adminInPath",
  "GET v1/applications/{applicationId}/stats": "adminInPath",
  "GET v1/keys": "platform",
  "POST v1/keys": "adminOfApplication owner confirmed",
  "PATCH v1/keys/{keyId}": "admin owner",
  "DELETE v1/keys/{keyId}": "admin owner",
  "POST v1/keys/{keyId}/revoke": "admin owner",
  "POST v1/profile-grants": "admin",
  "GET v1/profiles": "platform",
  "POST v1/profiles": "adminOfApplication",
  "GET v1/profiles/{profileId}": "profile",
  "PATCH v1/profiles/{profileId}": "profile",
  "DELETE v1/profiles/{profileId}": "profile",
  "POST v1/profiles/{profileId}/erase": "admin owner",
  "GET v1/profiles/{profileId}/connections": "profile",
  "DELETE v1/profiles/{profileId}/connections/{connectionId}": "profile",
  "GET v1/profiles/{profileId}/connect/sessions": "profile",
  "POST v1/profiles/{profileId}/connect/sessions": "profile",
  "GET v1/connect/sessions/{sessionId}": "profile",
  "POST v1/connect/sessions/{sessionId}/cancel": "profile",
  "GET v1/connect/ui": "anyone",
  "POST v1/connect/ui/done": "anyone",
  "POST v1/connect/ui/{network}": "anyone",
  "GET v1/connect/bluesky/client-metadata.json": "anyone",
  "GET v1/connect/bluesky/jwks.json": "anyone",
  "GET v1/connect/callback/{network}": "anyone",
  "GET v1/connect/callback/mastodon/{server}": "anyone",
  "POST v1/connect/meta/deauthorize": "anyone",
  "POST v1/connect/meta/delete": "anyone",
  "GET v1/connect/meta/deletion/{code}": "anyone",
  "POST v1/posts/validate": "profile",
  "POST v1/posts": "profile",
  "GET v1/posts": "profile",
  "GET v1/posts/{postId}": "profile",
  "GET v1/posts/{postId}/timeline": "profile",
  "PATCH v1/posts/{postId}": "profile",
  "DELETE v1/posts/{postId}": "profile",
  "POST v1/posts/{postId}/retry": "profile",
  "POST v1/posts/{postId}/remove": "profile",
  "POST v1/media": "profile",
  "POST v1/media/{mediaId}/complete": "profile",
  "GET v1/media": "profile",
  "GET v1/media/{mediaId}": "profile",
  "GET v1/media/{mediaId}/content": "profile",
  "DELETE v1/media/{mediaId}": "profile",
  "GET v1/media/public/{token}": "anyone",
  "GET v1/rate-card": "platform",
  "GET v1/platform/notices": "session",
  "PATCH v1/platform/notices": "session owner",
  "GET v1/billing/balance": "platform",
  "GET v1/billing/limits": "platform",
  "PATCH v1/billing/limits": "admin owner",
  "GET v1/billing/usage": "platform",
  "GET v1/billing/usage/export": "platform",
  "POST v1/billing/admin/credit": "operator:Admin",
  "GET v1/webhooks": "platform",
  "POST v1/webhooks": "adminOfApplication",
  "PATCH v1/webhooks/{webhookId}": "admin",
  "DELETE v1/webhooks/{webhookId}": "admin",
  "POST v1/webhooks/{webhookId}/rotate-secret": "admin confirmed",
  "POST v1/webhooks/{webhookId}/test": "admin",
  "GET v1/webhooks/{webhookId}/deliveries": "platform",
  "GET v1/webhooks/{webhookId}/deliveries/{deliveryId}": "platform",
  "POST v1/webhooks/{webhookId}/deliveries/{deliveryId}/redrive": "admin",
  "GET v1/events": "application",
  "POST v1/admin/webhooks/redrive-dead": "operator:Admin",
  "GET v1/admin/platforms": "operator:Admin,Operator",
  "POST v1/admin/platforms": "operator:Admin",
  "GET v1/admin/platforms/{platformId}": "operator:",
  "GET v1/admin/platforms/{platformId}/usage": "operator:Admin,Operator",
  "PATCH v1/admin/platforms/{platformId}": "operator:Admin",
  "POST v1/admin/platforms/{platformId}/users/{userId}/reset-link": "operator:Admin",
  "GET v1/admin/users": "operator:Admin,Operator",
  "GET v1/admin/platforms/{platformId}/users": "operator:Admin,Operator",
  "DELETE v1/admin/platforms/{platformId}/users/{userId}": "operator:Admin",
  "GET v1/admin/audit": "operator:Admin,Operator",
};

type Rule =
  | "anyone"
  | "platform"
  | "admin"
  | "application"
  | "adminOfApplication"
  | "adminInPath"
  | "session"
  | "profile"
  | `operator:${string}`;

type Narrowed = "owner" | "confirmed" | "owner confirmed";

/** The rule of a route without what narrows it for sessions. */
function ruleOf(route: Route): Rule {
  const [rule = "anyone"] = (RULES[nameOf(route)] ?? "anyone").split(" ");
  // Safe: the first word of each is a rule.
  return rule as Rule;
}

const isFor = (route: Route, narrowed: "owner" | "confirmed") =>
  (RULES[nameOf(route)] ?? "").split(" ").includes(narrowed);

/** Ends the very session that the other cases use; `auth.test.ts` has its cases. */
const ENDS_THE_SESSION = "POST v1/auth/logout";

/** Bodies that are judged before the object is looked for. */
const BODIES: Readonly<Record<string, object>> = {
  "PATCH v1/keys/{keyId}": { name: "Renamed" },
  "PATCH v1/users/{userId}": { role: "member" },
  // The key that comes with it makes the difference.
  "POST v1/applications": { name: "Planner" },
};

const nameOf = ({ method, path }: Route) => `${method} ${path}`;

test("every route has its rule, and every rule its route", () => {
  expect(routes.map(nameOf).toSorted()).toEqual(Object.keys(RULES).toSorted());
});

/** A tenant whose objects the others reach for, and callers of every kind. */
interface World {
  readonly owner: TestApplication;
  readonly profile: TestProfile;
  readonly connectSessionId: string;
  readonly invitationId: string;
  readonly webhookId: string;
  readonly callers: Readonly<Record<string, CallOptions>>;
}

let world: World;

async function refusedKeys(owner: TestApplication) {
  const expiresAt = new Date(relay.clock.now().getTime() + 1_000).toISOString();
  const [expired, revoked] = [await aKey(relay, owner, { expiresAt }), await aKey(relay, owner)];
  await relay.call("POST", `/v1/keys/${revoked.id}/revoke`, { key: owner.key });
  const deleted = await aKey(relay, owner);
  await relay.call("DELETE", `/v1/keys/${deleted.id}`, { key: owner.key });
  relay.advance(2_000);
  return { expired: expired.secret, revoked: revoked.secret, deleted: deleted.secret };
}

async function aDisabledApplication(owner: TestApplication): Promise<string> {
  const { session } = owner.platform;
  const disabled = await anApplication(relay, owner.platform);
  const body = { status: "disabled" };
  dataOf(await relay.call("PATCH", `/v1/applications/${disabled.id}`, { session, body }));
  return disabled.key;
}

async function aSuspendedPlatform(): Promise<TestApplication> {
  const suspended = await anApplication(relay);
  const call = { operator: ["Admin"], body: { status: "suspended" } };
  const path = `/v1/admin/platforms/${suspended.platform.id}`;
  dataOf(await relay.call("PATCH", path, call));
  return suspended;
}

async function aClosedPlatform(): Promise<TestApplication> {
  const closed = await anApplication(relay);
  const { session } = closed.platform;
  const body = { name: "Example Media" };
  dataOf(await relay.call("POST", "/v1/platform/close", { session, body }));
  return closed;
}

const aSession = async (email: string): Promise<string> =>
  dataOf(await relay.call("POST", "/v1/auth/login", { body: { email, password: PASSWORD } })).token;

/** The session of a member of staff who is no owner. */
async function aMember({ session }: TestPlatform): Promise<string> {
  const email = "member@example.com";
  dataOf(await relay.call("POST", "/v1/users", { session, body: { email, password: PASSWORD } }));
  return aSession(email);
}

const relay = useRelay();
beforeAll(async () => {
  const owner = await anApplication(relay);
  const profile = await aProfile(relay, owner);
  const refused = await refusedKeys(owner);
  const sibling = await anApplication(relay, owner.platform);
  const foreign = await anApplication(relay, await aPlatform(relay));
  const suspended = await aSuspendedPlatform();
  const closed = await aClosedPlatform();
  const member = await aMember(owner.platform);
  const restricted = await aKey(relay, owner, { scope: "restricted" });
  const connectSession = await relay.call("POST", `/v1/profiles/${profile.id}/connect/sessions`, {
    key: owner.key,
    body: {},
  });
  const webhook = await relay.call("POST", "/v1/webhooks", {
    key: owner.key,
    body: { url: "https://hooks.example.com/relay" },
  });
  const invitation = await relay.call("POST", "/v1/invitations", {
    session: owner.platform.session,
    body: { email: "invited@example.com" },
  });
  const disabled = await aDisabledApplication(owner);
  // Longer than a confirmation lasts.
  relay.advance(11 * 60_000);
  const last = owner.key.at(-1) === "0" ? "1" : "0";
  world = {
    owner,
    profile,
    connectSessionId: dataOf(connectSession).id,
    invitationId: dataOf(invitation).id,
    webhookId: dataOf(webhook).id,
    callers: {
      nobody: {},
      garbage: { key: "garbage" },
      "a key with a wrong checksum": { key: owner.key.slice(0, -1) + last },
      "a revoked key": { key: refused.revoked },
      "an expired key": { key: refused.expired },
      "a deleted key": { key: refused.deleted },
      "a disabled application's key": { key: disabled },
      "a suspended platform's key": { key: suspended.key },
      "a suspended platform's session": { session: suspended.platform.session },
      "a closed platform's key": { key: closed.key },
      "a closed platform's session": { session: closed.platform.session },
      "a restricted key": { key: restricted.secret },
      "another application's key": { key: sibling.key },
      "another tenant's key": { key: foreign.key },
      "another tenant's session": { session: await aSession(foreign.platform.email) },
      "the owner's key": { key: owner.key },
      "the owner's session": { session: await aSession(owner.platform.email) },
      "the owner's stale session": { session: owner.platform.session },
      "a member's session": { session: member },
      "an operator without a role": { operator: [] },
      "an Operator": { operator: ["Operator"] },
      "an Admin": { operator: ["Admin"] },
    },
  };
});

/** What every route answers to a credential that is none, whatever its own rule. */
const UNIVERSAL: Readonly<Record<string, string>> = {
  nobody: "401 unauthenticated",
  garbage: "401 invalid_credentials",
  "a key with a wrong checksum": "401 invalid_credentials",
  "a revoked key": "401 api_key_revoked",
  "an expired key": "401 api_key_expired",
  "a deleted key": "401 invalid_credentials",
  "a disabled application's key": "403 application_disabled",
  "a suspended platform's key": "403 platform_suspended",
  "a suspended platform's session": "403 platform_suspended",
  "a closed platform's key": "403 platform_closed",
  "a closed platform's session": "403 platform_closed",
  "an operator without a role": "401 invalid_credentials",
  "an Operator": "401 invalid_credentials",
  "an Admin": "401 invalid_credentials",
};

const KEYS = [
  "a restricted key",
  "another application's key",
  "another tenant's key",
  "the owner's key",
];

const OF_A_RESTRICTED_KEY: Readonly<Record<string, string>> = {
  profile: "403 profile_not_allowed",
  admin: "403 app_admin_required",
  adminOfApplication: "403 app_admin_required",
  adminInPath: "403 app_admin_required",
};

function ofProduct(rule: Rule, caller: string, namesAnObject: boolean): string {
  const universal = UNIVERSAL[caller];
  if (universal !== undefined) return universal;
  const isForeign = caller.startsWith("another");
  if (rule === "session" && KEYS.includes(caller)) return "403 session_required";
  if (caller === "a restricted key") return OF_A_RESTRICTED_KEY[rule] ?? "through";
  if (isForeign && (rule === "profile" || namesAnObject)) return "404 not_found";
  if ((rule === "adminOfApplication" || rule === "application") && caller.includes("session"))
    return "400 application_header_required";
  return "through";
}

function ofOperators(rule: Rule, caller: string): string {
  const roles = rule.slice("operator:".length).split(",").filter(Boolean);
  const own = {
    "an operator without a role": [],
    "an Operator": ["Operator"],
    "an Admin": ["Admin"],
  };
  const held: readonly string[] | undefined = own[caller as keyof typeof own];
  if (held === undefined)
    return caller === "nobody" ? "401 unauthenticated" : "401 invalid_credentials";
  return roles.length === 0 || roles.some((role) => held.includes(role))
    ? "through"
    : "403 role_required";
}

function expected(route: Route, caller: string): string {
  const rule = ruleOf(route);
  if (rule === "anyone") return "through";
  if (rule.startsWith("operator:")) return ofOperators(rule, caller);
  if (caller === "a member's session" && isFor(route, "owner")) return "403 owner_required";
  const isStale = caller.includes("stale") || caller === "a member's session";
  if (isStale && isFor(route, "confirmed")) return "403 confirmation_required";
  return ofProduct(
    rule,
    caller,
    /\{(applicationId|invitationId|keyId|profileId|userId|webhookId)\}/.test(route.path),
  );
}

/** The path with the owner's objects, or with ids that nobody has. */
function pathOf(route: Route, whose: "the owner's" | "nobody's"): string {
  const { owner, profile, connectSessionId, invitationId, webhookId } = world;
  const unknown = "0".repeat(26);
  const ids: Readonly<Record<string, readonly [string, string]>> = {
    applicationId: [owner.id, `app_${unknown}`],
    keyId: [owner.keyId, `key_${unknown}`],
    invitationId: [invitationId, `inv_${unknown}`],
    userId: [owner.platform.userId, `usr_${unknown}`],
    profileId: [profile.id, `prf_${unknown}`],
    connectionId: [`con_${unknown}`, `con_${unknown}`],
    sessionId: [connectSessionId, `cns_${unknown}`],
    webhookId: [webhookId, `whk_${unknown}`],
    deliveryId: [`dlv_${unknown}`, `dlv_${unknown}`],
    postId: [`pst_${unknown}`, `pst_${unknown}`],
    mediaId: [`med_${unknown}`, `med_${unknown}`],
    platformId: [owner.platform.id, `plt_${unknown}`],
    network: ["bluesky", "bluesky"],
    server: ["mastodon.sandbox.test", "mastodon.sandbox.test"],
    kind: ["verify", "verify"],
    code: ["0".repeat(40), "0".repeat(40)],
    token: ["v1.k1.AAAA.BBBB.CCCC", "v1.k1.AAAA.BBBB.CCCC"],
  };
  return `/${route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const pair = ids[name];
    if (pair === undefined) throw new Error(`the matrix has no id for {${name}}`);
    return pair[whose === "the owner's" ? 0 : 1];
  })}`;
}

function outcomeOf({ status, body }: Answer): string {
  // The relay of these cases sends no mail, to any caller.
  if (body?.error?.code === "mail_disabled") return "through";
  const refused = status === 401 || status === 403 || status === 404;
  const code: unknown = body?.error?.code;
  if (refused || code === "application_header_required") return `${status} ${String(code)}`;
  return status >= 500 ? `${status}` : "through";
}

function call(route: Route, caller: CallOptions, whose: "the owner's" | "nobody's") {
  const needsHeader = ruleOf(route) === "profile" && !route.path.includes("{profileId}");
  const profileId = whose === "the owner's" ? world.profile.id : `prf_${"0".repeat(26)}`;
  return relay.call(route.method, pathOf(route, whose), {
    ...caller,
    body: BODIES[nameOf(route)],
    headers: needsHeader ? { "x-profile-id": profileId } : {},
  });
}

describe("access", () => {
  const guarded = routes.filter((route) => ruleOf(route) !== "anyone");

  test.each(guarded.map((route) => [nameOf(route), route] as const))(
    "access: %s",
    async (name, route) => {
      const answers: Record<string, string> = {};
      const wanted: Record<string, string> = {};
      for (const [caller, options] of Object.entries(world.callers)) {
        if (name === ENDS_THE_SESSION && options.session !== undefined) continue;
        const expectation = expected(route, caller);
        wanted[caller] = expectation;
        // Let through to an object that exists, a writing route would change the world under the cases that follow.
        const whose =
          expectation === "through" && route.method !== "GET" ? "nobody's" : "the owner's";
        const outcome = outcomeOf(await call(route, options, whose));
        const isUnknownObject = whose === "nobody's" && outcome === "404 not_found";
        const isUnknownPart =
          expectation === "through" &&
          /\{(postId|connectionId|deliveryId|mediaId)\}/.test(route.path);
        answers[caller] =
          isUnknownObject || (isUnknownPart && outcome === "404 not_found") ? "through" : outcome;
      }
      expect(answers).toEqual(wanted);
    },
  );

  const open = routes.filter((route) => ruleOf(route) === "anyone");
  test.each(open.map((route) => [nameOf(route), route] as const))(
    "%s asks nobody for a credential",
    async (_name, route) => {
      const { status, body } = await call(route, { key: "garbage" }, "nobody's");
      expect(status).not.toBe(401);
      expect(body?.error?.code).not.toBe("unauthenticated");
    },
  );
});

describe("what does not exist", () => {
  const named = routes.filter(
    ({ path }) => /\{\w+Id\}/.test(path) && !path.startsWith("v1/admin/"),
  );

  test.each(named.map((route) => [nameOf(route), route] as const))(
    "%s answers another tenant's and an unknown object with the same 404",
    async (_name, route) => {
      const caller = world.callers["another tenant's session"] ?? {};
      const [foreign, unknown] = [
        await call(route, caller, "the owner's"),
        await call(route, caller, "nobody's"),
      ];
      const [first, second] = [foreign, unknown].map(({ status, headers, body }) => {
        const { requestId, ...error } = body.error;
        expect(requestId).toMatch(/^req_/);
        const names = [...headers.keys()].join();
        return { status, names, error };
      });
      expect(first).toEqual(second);
      expect(first?.status).toBe(404);
    },
  );
});

/** Without what is written beside a request: that it was counted, and when its key was last used. */
async function rowsKept(): Promise<string[]> {
  const rows = await storedRows(relay);
  return rows
    .filter(({ table, rowKey }) => table !== "ratewindows" && rowKey !== "U")
    .map(({ table, text }) => `${table} ${text}`)
    .toSorted();
}

describe("fields that no request has", () => {
  const writing = routes.filter(({ spec }) => spec.body !== undefined && spec.bodyKind !== "form");
  const PROTECTED = [
    "unknownField",
    "balance",
    "tenantId",
    "id",
    "createdAt",
    "etag",
    "partitionKey",
    "rowKey",
  ];

  function callerOf(route: Route): CallOptions {
    const rule = ruleOf(route);
    if (rule.startsWith("operator:")) return { operator: ["Admin"] };
    return rule === "session"
      ? (world.callers["the owner's session"] ?? {})
      : { key: world.owner.key };
  }

  function callWith(route: Route, rawBody: string): Promise<Answer> {
    const headers = {
      "content-type": "application/json",
      "idempotency-key": "access-matrix",
      "x-profile-id": world.profile.id,
    };
    return relay.call(route.method, pathOf(route, "the owner's"), {
      ...callerOf(route),
      headers,
      rawBody,
    });
  }

  test.each(writing.map((route) => [nameOf(route), route] as const))(
    "%s names them and writes nothing",
    async (_name, route) => {
      const before = await rowsKept();
      const body = Object.fromEntries(PROTECTED.map((name) => [name, "x"]));
      const { status, body: answer } = await callWith(route, JSON.stringify(body));
      expect([status, answer.error.code]).toEqual([400, "validation_failed"]);
      const paths = answer.error.details.issues.map((issue: { path: string }) => issue.path);
      expect(paths).toEqual(expect.arrayContaining(PROTECTED));

      for (const name of ["__proto__", "constructor", "prototype"]) {
        const polluted = await callWith(route, `{"${name}":{"admin":true}}`);
        expect(polluted.status).toBe(400);
        const [issue] = polluted.body.error.details.issues;
        expect(issue).toMatchObject({ path: name, code: "forbidden_name" });
      }
      expect(await rowsKept()).toEqual(before);
    },
  );
});
