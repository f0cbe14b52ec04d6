import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { aPlatform, dataOf, outcomeOf, PASSWORD, type TestPlatform } from "../setup/factories.ts";
import { useRelay } from "../setup/use-relay.ts";

const relay = useRelay();

const operator = ["Admin"];
const read = (path: string, roles: readonly string[] = ["Operator"]) =>
  relay.call("GET", path, { operator: roles });
const find = (email: string) => read(`/v1/admin/users?email=${encodeURIComponent(email)}`);
const remove = (platformId: string, userId: string) =>
  relay.call("DELETE", `/v1/admin/platforms/${platformId}/users/${userId}`, { operator });

async function aColleague({ session }: TestPlatform, role = "member") {
  const email = `colleague-${randomBytes(8).toString("hex")}@example.com`;
  const body = { email, password: PASSWORD, role };
  return dataOf(await relay.call("POST", "/v1/users", { session, body }));
}
const statusOf = async (platformId: string) =>
  dataOf(await read(`/v1/admin/platforms/${platformId}`)).status;
const logIn = (email: string) =>
  relay.call("POST", "/v1/auth/login", { body: { email, password: PASSWORD } });

describe("operators", () => {
  test("find out whose email it is, by the whole of it", async () => {
    const team = await aPlatform(relay);
    const { body } = await find(` ${team.email.toUpperCase()} `);
    expect(body.data).toEqual([
      expect.objectContaining({ id: team.userId, email: team.email, platformId: team.id }),
    ]);
    expect(body.page).toEqual({ nextCursor: null, hasMore: false, limit: 1 });
    for (const other of [team.email.slice(1), "nobody@example.com", "%"])
      expect((await find(other)).body.data).toEqual([]);
    expect(outcomeOf(await read("/v1/admin/users"))).toBe("400 validation_failed");
  });

  test("list the staff of a platform, newest first, and only of one that there is", async () => {
    const team = await aPlatform(relay);
    const colleague = await aColleague(team);
    const path = `/v1/admin/platforms/${team.id}/users`;
    const { body } = await read(`${path}?limit=1`);
    expect(body.data).toEqual([colleague]);
    const next = await read(`${path}?limit=1&cursor=${body.page.nextCursor}`);
    expect(next.body.data.map(({ id }: { id: string }) => id)).toEqual([team.userId]);
    for (const unknown of [`plt_${"0".repeat(26)}`, "plt_", "nobody"])
      expect(outcomeOf(await read(`/v1/admin/platforms/${unknown}/users`))).toBe("404 not_found");
  });

  test("remove a user, whose sessions end and whose email is free", async () => {
    const team = await aPlatform(relay);
    const colleague = await aColleague(team);
    const { token: session } = dataOf(await logIn(colleague.email));
    expect(outcomeOf(await remove(team.id, colleague.id))).toBe("204");
    expect(outcomeOf(await remove(team.id, colleague.id))).toBe("404 not_found");
    expect((await relay.call("GET", "/v1/me", { session })).status).toBe(401);
    expect(await statusOf(team.id)).toBe("active");
    const body = { email: colleague.email, password: PASSWORD, platformName: "Own" };
    expect((await relay.call("POST", "/v1/auth/signup", { body })).status).toBe(201);
    const audit = await read("/v1/admin/audit");
    expect(audit.body.data).toContainEqual(
      expect.objectContaining({
        action: "user.deleted",
        target: { type: "user", id: colleague.id },
        platformId: team.id,
        outcome: "ok",
      }),
    );
  });

  test("suspend a platform with the last of its owners", async () => {
    const team = await aPlatform(relay);
    const [member, owner] = [await aColleague(team), await aColleague(team, "owner")];
    expect(outcomeOf(await remove(team.id, owner.id))).toBe("204");
    expect(await statusOf(team.id)).toBe("active");
    expect(outcomeOf(await remove(team.id, team.userId))).toBe("204");
    expect(await statusOf(team.id)).toBe("suspended");
    expect(outcomeOf(await logIn(member.email))).toBe("403 platform_suspended");
    expect((await find(team.email)).body.data).toEqual([]);
  });

  test("find no user of another platform", async () => {
    const [team, other] = [await aPlatform(relay), await aPlatform(relay)];
    for (const [platformId, userId] of [
      [team.id, other.userId],
      [team.id, "usr_"],
      ["platforms", other.userId],
      [`plt_${"0".repeat(26)}`, other.userId],
    ] as const)
      expect(outcomeOf(await remove(platformId, userId))).toBe("404 not_found");
    expect((await logIn(other.email)).status).toBe(200);
  });
});
