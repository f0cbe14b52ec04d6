import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { routes } from "../../src/functions/routes.ts";
import type { Route } from "../../src/shared/http/route.ts";
import { anApplication, aProfile, dataOf, outcomeOf, PASSWORD } from "../setup/factories.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { storedRows } from "../setup/stored-rows.ts";

/* Who has not shown that an address is theirs may log in, read, and ask for the mail again. */

const nameOf = ({ method, path }: Route) => `${method} ${path}`;

/** What such a user may do beside reading. */
const ALLOWED = new Set(["POST v1/auth/logout", "POST v1/auth/verify/resend"]);

/** Routes that look at no session of a user. */
const isOfNobody = ({ spec }: Route) =>
  spec.access.name === "anyone" || spec.access.name.startsWith("operator");

let relay: Relay;
let session: string;
let ids: Readonly<Record<string, string>>;

beforeAll(async () => {
  // What a request may be about is made without mail, and is another platform's.
  const first = await startRelay();
  const { id, keyId, key, platform } = await anApplication(first);
  const profile = await aProfile(first, { id, keyId, key, platform });
  const settings = { ...first.settings, MAIL_URL: "smtp://127.0.0.1:1", MAIL_FROM: "a@b.example" };
  relay = await startRelay({ sameDeploymentAs: { ...first, settings } });
  const body = { email: "new@example.com", password: PASSWORD, platformName: "New" };
  const { token, user } = dataOf(await relay.call("POST", "/v1/auth/signup", { body }));
  session = token;
  // The row of the wallet, which the first look at it makes.
  await relay.call("POST", "/v1/posts", {
    session,
    body: {},
    headers: { "x-profile-id": profile.id },
  });
  ids = { applicationId: id, keyId, profileId: profile.id, userId: user.id };
});
afterAll(() => relay.stop());

const pathOf = ({ path }: Route) =>
  `/${path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? `none_${"0".repeat(26)}`)}`;

function call(route: Route) {
  const needsProfile = !route.path.includes("{profileId}");
  return relay.call(route.method, pathOf(route), {
    session,
    ...(route.spec.body === undefined ? {} : { body: {} }),
    headers: needsProfile ? { "x-profile-id": ids["profileId"] ?? "" } : {},
  });
}

async function rowsKept(): Promise<readonly string[]> {
  const rows = await storedRows(relay);
  return rows
    .filter(({ table }) => table !== "ratewindows")
    .map(({ table, text }) => `${table} ${text}`);
}

const guarded = routes.filter((route) => !isOfNobody(route) && !ALLOWED.has(nameOf(route)));

describe("a user whose email is not verified", () => {
  const writes = guarded.filter(({ method }) => method !== "GET");
  test.each(writes.map((route) => [nameOf(route), route] as const))(
    "an unverified user is refused %s, which writes nothing",
    async (_name, route) => {
      const before = await rowsKept();
      // Another platform's object is not there, for any caller.
      const isForeign = /\{|^v1\/posts/.test(route.path);
      const outcome = outcomeOf(await call(route));
      expect(
        isForeign ? ["403 email_unverified", "404 not_found"] : ["403 email_unverified"],
      ).toContain(outcome);
      expect(await rowsKept()).toEqual(before);
    },
  );

  const reads = guarded.filter(({ method }) => method === "GET");
  test.each(reads.map((route) => [nameOf(route), route] as const))(
    "an unverified user is told the same by %s as anybody",
    async (_name, route) => {
      expect(outcomeOf(await call(route))).not.toBe("403 email_unverified");
    },
  );

  test("a user whose email is not verified is admitted by the routes that say so, which there are", async () => {
    const found = routes.filter((route) => ALLOWED.has(nameOf(route)));
    expect(found).toHaveLength(ALLOWED.size);
    for (const route of found.toReversed())
      expect((await call(route)).status, nameOf(route)).toBeLessThan(300);
  });
});
