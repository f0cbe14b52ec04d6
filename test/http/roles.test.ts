import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  anApplication,
  aPlatform,
  aProfile,
  dataOf,
  outcomeOf,
  PASSWORD,
  type TestPlatform,
} from "../setup/factories.ts";
import type { Relay } from "../setup/relay.ts";
import { useTwoProcesses } from "../setup/use-relay.ts";

const { relay, instance } = useTwoProcesses();

type Role = "owner" | "member";

async function aColleague({ session }: TestPlatform, role?: Role) {
  const email = `colleague-${randomBytes(8).toString("hex")}@example.com`;
  const whole = { email, password: PASSWORD, ...(role === undefined ? {} : { role }) };
  const user = dataOf(await relay.call("POST", "/v1/users", { session, body: whole }));
  const body = { email, password: PASSWORD };
  const { token } = dataOf(await relay.call("POST", "/v1/auth/login", { body }));
  return { id: user.id as string, role: user.role as Role, session: token as string };
}

const setRole = (session: string, userId: string, role: Role, on: Relay = relay) =>
  on.call("PATCH", `/v1/users/${userId}`, { session, body: { role } });
const remove = (session: string, userId: string, on: Relay = relay) =>
  on.call("DELETE", `/v1/users/${userId}`, { session });

const listed = async (session: string): Promise<readonly string[]> => {
  const { body } = await relay.call("GET", "/v1/users", { session });
  return body.data.map(({ role }: { role: string }) => role);
};

const DENIED = "403 owner_required";

describe("a member", () => {
  test("a colleague is a member unless they are made an owner; the first user is one", async () => {
    const platform = await aPlatform(relay);
    expect((await aColleague(platform)).role).toBe("member");
    expect((await aColleague(platform, "owner")).role).toBe("owner");
    const me = dataOf(await relay.call("GET", "/v1/me", { session: platform.session }));
    expect(me.user).toMatchObject({ id: platform.userId, email: platform.email, role: "owner" });
  });

  test("changes no one's access and nothing that is for good, and everything else", async () => {
    const platform = await aPlatform(relay);
    const application = await anApplication(relay, platform);
    const profile = await aProfile(relay, application);
    const { session, id } = await aColleague(platform);
    const headers = { "x-application-id": application.id };
    const call = (method: string, path: string, body?: object) =>
      relay.call(method, path, { session, headers, ...(body === undefined ? {} : { body }) });
    const ofKey = `/v1/keys/${application.keyId}`;
    const ofApplication = `/v1/applications/${application.id}`;
    const denied = [
      await call("POST", "/v1/users", { email: "more@example.com", password: PASSWORD }),
      await call("DELETE", `/v1/users/${platform.userId}`),
      await call("PATCH", `/v1/users/${id}`, { role: "owner" }),
      await call("POST", "/v1/keys", {}),
      await call("PATCH", ofKey, { name: "Renamed" }),
      await call("POST", `${ofKey}/revoke`),
      await call("DELETE", ofKey),
      await call("POST", "/v1/applications", { name: "With a key" }),
      await call("PATCH", ofApplication, { status: "disabled" }),
      await call("PATCH", "/v1/billing/limits", { dailyTokenBudget: 5 }),
      await call("PATCH", "/v1/platform/notices", { balanceLow: false }),
      await call("POST", `/v1/profiles/${profile.id}/erase`),
    ];
    expect(denied.map(outcomeOf)).toEqual(denied.map(() => DENIED));
    const allowed = [
      await call("GET", "/v1/users"),
      await call("GET", "/v1/keys"),
      await call("GET", "/v1/platform/notices"),
      await call("POST", "/v1/applications", { name: "Keyless", createDefaultKey: false }),
      await call("PATCH", ofApplication, { name: "Renamed" }),
      await call("POST", "/v1/profiles", { title: "Corner Bakery" }),
      await call("POST", "/v1/auth/totp"),
      await call("DELETE", `/v1/users/${id}`),
    ];
    expect(allowed.map(outcomeOf)).toEqual([
      "200",
      "200",
      "200",
      "201",
      "200",
      "201",
      "201",
      "204",
    ]);
  });

  test("a member who was an owner is one no more on any instance once that is answered", async () => {
    const platform = await aPlatform(relay);
    const other = await aColleague(platform, "owner");
    const application = await anApplication(relay, platform);
    const headers = { "x-application-id": application.id };
    const make = () =>
      instance.call("POST", "/v1/keys", { session: other.session, headers, body: {} });
    expect(outcomeOf(await make())).toBe("201");
    expect(dataOf(await setRole(platform.session, other.id, "member")).role).toBe("member");
    expect(outcomeOf(await make())).toBe(DENIED);
    expect(dataOf(await setRole(platform.session, other.id, "owner")).role).toBe("owner");
    expect(outcomeOf(await make())).toBe("201");
  });
});

describe("a platform always has an owner", () => {
  test("the last one can be neither removed nor demoted, members or not", async () => {
    const platform = await aPlatform(relay);
    await aColleague(platform);
    const last = "409 invalid_state";
    expect(outcomeOf(await remove(platform.session, platform.userId))).toBe(last);
    expect(outcomeOf(await setRole(platform.session, platform.userId, "member"))).toBe(last);
    const other = await aColleague(platform, "owner");
    expect(outcomeOf(await setRole(platform.session, platform.userId, "member"))).toBe("200");
    expect(outcomeOf(await remove(other.session, other.id))).toBe(last);
    expect(outcomeOf(await remove(other.session, platform.userId))).toBe("204");
  });

  test("of two owners who demote each other at once, on two instances, one stays", async () => {
    for (let round = 0; round < 5; round += 1) {
      const platform = await aPlatform(relay);
      const other = await aColleague(platform, "owner");
      const answers = await Promise.all([
        setRole(platform.session, other.id, "member"),
        setRole(other.session, platform.userId, "member", instance),
      ]);
      const [done, refused] = answers.map(outcomeOf).toSorted();
      expect(done).toBe("200");
      // The later one was the last owner, or no owner any more when it came.
      expect(["409 invalid_state", DENIED]).toContain(refused);
      expect((await listed(platform.session)).filter((role) => role === "owner")).toHaveLength(1);
    }
  });

  test("repeating a role counts nobody twice", async () => {
    const platform = await aPlatform(relay);
    const other = await aColleague(platform);
    for (const role of ["owner", "owner", "member", "member"] as const)
      expect(outcomeOf(await setRole(platform.session, other.id, role))).toBe("200");
    expect(outcomeOf(await remove(platform.session, platform.userId))).toBe("409 invalid_state");
  });

  test("each user chooses their own language, and nobody else's", async () => {
    const platform = await aPlatform(relay);
    const member = await aColleague(platform);
    const change = (session: string, userId: string, body: object) =>
      relay.call("PATCH", `/v1/users/${userId}`, { session, body });
    const { session, id } = member;
    expect(dataOf(await change(session, id, { locale: "de" })).locale).toBe("de");
    expect(dataOf(await relay.call("GET", "/v1/me", { session })).user.locale).toBe("de");
    expect(outcomeOf(await change(session, platform.userId, { locale: "de" }))).toBe(DENIED);
    expect(outcomeOf(await change(session, id, { locale: "de", role: "owner" }))).toBe(DENIED);
    const foreign = await change(platform.session, id, { locale: "fr" });
    expect(foreign.body.error.details.issues).toEqual([
      { path: "locale", code: "custom", message: expect.stringContaining("their own") },
    ]);
    const own = await change(platform.session, platform.userId, { locale: "pt", role: "owner" });
    expect(dataOf(own)).toMatchObject({ locale: "pt", role: "owner" });
    for (const body of [{}, { locale: "it" }])
      expect(outcomeOf(await change(session, id, body))).toBe("400 validation_failed");
    relay.advance(11 * 60_000);
    expect(outcomeOf(await change(session, id, { locale: "es" }))).toBe("200");
    const stale = await change(platform.session, id, { role: "owner" });
    expect(outcomeOf(stale)).toBe("403 confirmation_required");
  });

  test.each(["usr_", "P", `usr_${"0".repeat(26)}`])("%s has no role", async (userId) => {
    const { session } = await aPlatform(relay);
    expect(outcomeOf(await setRole(session, userId, "owner"))).toBe("404 not_found");
  });
});
