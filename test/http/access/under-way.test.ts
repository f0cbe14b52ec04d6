import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { routes } from "../../../src/functions/routes.ts";
import type { Outbound } from "../../../src/shared/runtime/outbound.ts";
import { dataOf, outcomeOf, PASSWORD } from "../../setup/factories.ts";
import { startRelay, type Answer, type CallOptions, type Relay } from "../../setup/relay.ts";
import { casesOf, IS_LONG } from "../../setup/long-check.ts";
import { HeldWrites } from "./held-writes.ts";
import { aCustomer, NOT_CHECKED, WRITES, type As, type Customer } from "./write-routes.ts";

/** An outside world that takes everything. */
const outbound: Outbound = {
  request: () =>
    Promise.resolve({
      status: 204,
      headers: {},
      body: new Uint8Array(),
      text: () => "",
      json: () => undefined,
    }),
  open: () => Promise.reject(new Error("nothing is read")),
  browserUrl: (url) => url,
  close: () => Promise.resolve(),
};

/** Access is taken away on the one, while a request is under way on the other. */
let office: Relay;
let branch: Relay;
const held = new HeldWrites();

function useTwo(): void {
  beforeAll(async () => {
    office = await startRelay({ outbound });
    branch = await startRelay({ outbound, sameDeploymentAs: office, holdWrite: held.of });
  });
  afterAll(async () => {
    await branch.stop();
    await office.stop();
  });
}

test("every route that is no GET is declared", () => {
  const written = routes
    .filter(({ method }) => method !== "GET")
    .map(({ method, path }) => `${method} ${path}`);
  const declared = [...Object.keys(WRITES), ...Object.keys(NOT_CHECKED)];
  expect(declared.toSorted()).toEqual(written.toSorted());
});

type Take = (customer: Customer) => Promise<Answer>;

const byOwner =
  (method: string, path: (customer: Customer) => string, body?: object): Take =>
  (customer) =>
    office.call(method, path(customer), { session: customer.owner, ...(body && { body }) });

const setPlatform = (status: "active" | "suspended"): Take => {
  return ({ platform }) =>
    office.call("PATCH", `/v1/admin/platforms/${platform.id}`, {
      operator: ["Admin"],
      body: { status },
    });
};

/** After it the customer is asked for what is there, which nobody can who has none. */
const CLOSES = "POST v1/platform/close";

interface Way {
  readonly as: As;
  readonly take: Take;
  readonly told: string;
  /** It takes the whole platform away, which is active for as long as it takes to see what is there. */
  readonly isWhole?: true;
  /** The other process has not seen the caller before. */
  readonly isUnknown?: true;
}

const REVOKED = "401 api_key_revoked";
const DELETED = "401 invalid_credentials";
const ENDED = "401 session_expired";

const OF_ADMIN_KEYS: Readonly<Record<string, Way>> = {
  "its key was revoked": {
    as: "admin",
    take: byOwner("POST", ({ admin }) => `/v1/keys/${admin.id}/revoke`),
    told: REVOKED,
  },
  "its key was deleted": {
    as: "admin",
    take: byOwner("DELETE", ({ admin }) => `/v1/keys/${admin.id}`),
    told: DELETED,
    isUnknown: true,
  },
  "the key that made its key was revoked, with what it made": {
    as: "admin",
    take: byOwner("POST", ({ maker }) => `/v1/keys/${maker.id}/revoke?descendants=true`),
    told: REVOKED,
  },
  "its application was disabled": {
    as: "admin",
    take: byOwner("PATCH", ({ id }) => `/v1/applications/${id}`, { status: "disabled" }),
    told: "403 application_disabled",
  },
  "its platform was suspended": {
    as: "admin",
    take: setPlatform("suspended"),
    told: "403 platform_suspended",
    isWhole: true,
  },
};

const OF_SESSIONS: Readonly<Record<string, Way>> = {
  "its user was removed": {
    as: "session",
    take: byOwner("DELETE", ({ colleague }) => `/v1/users/${colleague.id}`),
    told: ENDED,
  },
  "its user logged out": {
    as: "session",
    take: ({ colleague }) =>
      office.call("POST", "/v1/auth/logout", { session: colleague.elsewhere }),
    told: ENDED,
  },
  "its user changed the password": {
    as: "session",
    take: ({ colleague }) =>
      office.call("POST", "/v1/auth/password", {
        session: colleague.elsewhere,
        body: { currentPassword: PASSWORD, newPassword: "a password that was changed" },
      }),
    told: ENDED,
  },
  "the platform of its user was suspended": {
    as: "session",
    take: setPlatform("suspended"),
    told: "403 platform_suspended",
    isWhole: true,
  },
  "the platform of its user was closed": {
    as: "session",
    take: byOwner("POST", () => "/v1/platform/close", { name: "Example Media" }),
    told: "403 platform_closed",
    isWhole: true,
  },
};

const OF_PROFILES: Readonly<Record<string, Way>> = {
  ...OF_ADMIN_KEYS,
  ...OF_SESSIONS,
  "its restricted key was revoked": {
    as: "restricted",
    take: byOwner("POST", ({ restricted }) => `/v1/keys/${restricted.id}/revoke`),
    told: REVOKED,
  },
  "the key that minted its grant was revoked": {
    as: "granted by a key",
    take: byOwner("POST", ({ maker }) => `/v1/keys/${maker.id}/revoke`),
    told: "401 invalid_grant_token",
  },
  "the user who minted its grant was removed": {
    as: "granted by a user",
    take: byOwner("DELETE", ({ colleague }) => `/v1/users/${colleague.id}`),
    told: "401 invalid_grant_token",
  },
};

const WAYS: Readonly<Record<string, Readonly<Record<string, Way>>>> = {
  session: OF_SESSIONS,
  admin: { ...OF_ADMIN_KEYS, ...OF_SESSIONS },
  profile: OF_PROFILES,
  publishing: {
    ...OF_PROFILES,
    "its profile was disabled": {
      as: "admin",
      take: byOwner("PATCH", ({ profileId }) => `/v1/profiles/${profileId}`, {
        status: "disabled",
      }),
      told: "403 profile_disabled",
    },
    "its profile is being erased": {
      as: "restricted",
      take: byOwner("DELETE", ({ profileId }) => `/v1/profiles/${profileId}`),
      told: "403 profile_disabled",
    },
  },
};

async function credentialOf(customer: Customer, as: As): Promise<CallOptions> {
  const { admin, restricted, unlisted, colleague, maker, profileId } = customer;
  switch (as) {
    case "admin":
      return { key: admin.secret };
    case "restricted":
      return { key: restricted.secret };
    case "session":
      return { session: colleague.session };
    case "granted by a key":
    case "granted by a user": {
      const by = as === "granted by a key" ? { key: maker.secret } : { session: colleague.session };
      const body = { profileId };
      const { token } = dataOf(await office.call("POST", "/v1/profile-grants", { ...by, body }));
      return { key: unlisted.secret, headers: { "x-profile-grant": token } };
    }
  }
}

const TOLD_BY_TIME = new Set(["lastUsedAt", "lastLoginAt", "resetsAt"]);

/** The platform's own row changes when it is suspended, and when it is active again. */
const withoutTime = (me: object) => ({ ...me, updatedAt: undefined });

/** Everything that a customer sees, by HTTP. */
async function allOf(customer: Customer): Promise<unknown> {
  const { owner, profileId, id, colleague, unique } = customer;
  const lists = ["applications", "keys", "profiles", "users", "webhooks"].map(
    (one) => `/v1/${one}`,
  );
  const billing = ["balance", "limits", "usage"].map((one) => `/v1/billing/${one}`);
  const headers = { "x-application-id": id, "x-profile-id": profileId };
  const read = async (path: string) =>
    dataOf(await office.call("GET", path, { session: owner, headers }));
  const paths = [...lists, ...billing, "/v1/events", "/v1/posts"];
  const [own, me, connections] = await Promise.all([
    Promise.all(paths.map(read)),
    read("/v1/me").then(withoutTime),
    read(`/v1/profiles/${profileId}/connections`),
  ]);
  const deliveries = await Promise.all(
    (await read("/v1/webhooks")).map((one: { id: string }) =>
      read(`/v1/webhooks/${one.id}/deliveries`),
    ),
  );
  const logIn = async (email: string) => {
    const body = { email, password: PASSWORD };
    return outcomeOf(await office.call("POST", "/v1/auth/login", { body }));
  };
  const signsIn =
    colleague.email === ""
      ? []
      : [await logIn(colleague.email), await logIn(`stranger-${unique}@example.com`)];
  const seen = { own, me, connections, deliveries, signsIn };
  return JSON.parse(
    JSON.stringify(seen, (name, value: unknown) => (TOLD_BY_TIME.has(name) ? undefined : value)),
  );
}

/** The same, also of a platform that was taken away as a whole. */
async function seenOf(customer: Customer, { isWhole, take }: Way): Promise<unknown> {
  if (isWhole !== true) return await allOf(customer);
  dataOf(await setPlatform("active")(customer));
  const seen = await allOf(customer);
  dataOf(await take(customer));
  return seen;
}

interface Held {
  readonly answer: Answer;
  /** Before the request, when access was taken away before the write was let go, and after the answer. */
  readonly seen: { readonly first: unknown; readonly before: unknown; readonly after: unknown };
  readonly wasHeld: boolean;
  readonly audited: unknown;
}

/** Sends a request whose write of this number is held back until access was taken away. */
async function holdUp(name: string, way: Way, number: number): Promise<Held> {
  const [method = ""] = name.split(" ");
  const customer = await aCustomer(office, way.as);
  const credential = await credentialOf(customer, way.as);
  const asked = await WRITES[name]?.ask(customer, office);
  if (asked === undefined) throw new Error(`${name} is not declared`);
  const headers = { ...asked.headers, ...credential.headers };
  if (way.isUnknown !== true)
    await branch.call("GET", "/v1/rate-card", { ...credential, headers: {} });
  const first = number === 1 ? undefined : await allOf(customer);
  const reached = held.hold(number);
  const requestId = `request-${customer.unique}`;
  const request = branch.call(method, asked.path, {
    ...credential,
    ...(asked.body !== undefined && { body: asked.body }),
    headers: { ...headers, "x-request-id": requestId },
  });
  const wasHeld = await Promise.race([reached.then(() => true), request.then(() => false)]);
  dataOf({ ...(await way.take(customer)), body: { data: undefined } });
  const before = await seenOf(customer, way);
  held.letGo();
  const answer = await request;
  if (name === CLOSES && answer.status < 300) dataOf(await setPlatform("active")(customer));
  const after = await seenOf(customer, way);
  if (way.isWhole === true) dataOf(await setPlatform("active")(customer));
  const audit = dataOf(await branch.call("GET", "/v1/audit", { session: customer.owner }));
  const audited = audit.filter(
    (one: { requestId: string; outcome: string }) =>
      one.requestId === requestId && one.outcome === "ok",
  );
  return { answer, seen: { first, before, after }, wasHeld, audited };
}

const isRedrive = (name: string) => Number(name.endsWith("redrive"));

/** Posts are accepted and never published, so the deliveries are made before there are any. */
const WRITES_IN_TURN = Object.entries(WRITES).toSorted(
  ([one], [other]) => isRedrive(other) - isRedrive(one),
);

/** A logout ends nothing but what it is sent with, so it is not refused for what ends more. */
const isHarmless = (name: string, { isWhole }: Way) =>
  name === "POST v1/auth/logout" && isWhole === true;

/** In the long check every write in every way, and otherwise every write in one way and every way at some writes. */
const cases = WRITES_IN_TURN.flatMap(([name, { callers }], index) => {
  const ways = Object.entries(WAYS[callers] ?? {}).filter(([, way]) => !isHarmless(name, way));
  return ways
    .filter((_, at) => IS_LONG || at === index % ways.length)
    .map(([what, way]) => [name, what, way] as const);
});

describe("a request whose first write was under way is refused, and nothing of it is there", () => {
  useTwo();
  test.each(cases)("%s, while %s", async (name, _what, way) => {
    const { answer, seen, wasHeld, audited } = await holdUp(name, way, 1);
    expect(wasHeld).toBe(true);
    expect(outcomeOf(answer)).toBe(way.told);
    expect(seen.after).toEqual(seen.before);
    expect(audited).toEqual([]);
  });
});

/** A logout elsewhere shows in no list, so that what is there afterwards can be compared with what was there before. */
const LOG_OUT = OF_SESSIONS["its user logged out"];
const WRITES_MAX = 12;

describe("a request whose later write was under way is applied as a whole or not at all", () => {
  useTwo();
  // These end the other session themselves, and so nobody is left to log out.
  const others = WRITES_IN_TURN.filter(([name]) => !/logout|password$/.test(name));
  test.each(casesOf(others, 6))(
    "a request under way is applied whole or not at all: %s",
    async (name) => {
      if (LOG_OUT === undefined) throw new Error("nobody logs out");
      let number = 2;
      for (; number <= WRITES_MAX; number += 1) {
        const { answer, seen, wasHeld, audited } = await holdUp(name, LOG_OUT, number);
        if (!wasHeld) break;
        const isRefused = outcomeOf(answer) === LOG_OUT.told;
        expect(isRefused || answer.status < 300).toBe(true);
        if (!isRefused) continue;
        expect(seen.after).toEqual(seen.first);
        expect(audited).toEqual([]);
      }
      expect(number).toBeLessThan(WRITES_MAX);
    },
  );
});
