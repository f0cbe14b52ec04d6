import { describe, expect, test } from "vitest";
import { aKey, anApplication, aPlatform, aProfile, dataOf } from "../setup/factories.ts";
import { startRelay } from "../setup/relay.ts";
import { useRelay } from "../setup/use-relay.ts";

const relay = useRelay();

describe("GET /v1/me", () => {
  test("shows a key its platform, its application and what is counted there", async () => {
    const platform = await aPlatform(relay, { tokens: 777, name: "Nine Bakers" });
    const app = await anApplication(relay, platform, { name: "Planner" });
    const sibling = await anApplication(relay, platform, { name: "Archive" });
    await aProfile(relay, app);
    await aProfile(relay, sibling);
    await aProfile(relay, sibling);
    const spare = await aKey(relay, app);
    await relay.call("POST", `/v1/keys/${spare.id}/revoke`, { key: app.key });

    const { status, body } = await relay.call("GET", "/v1/me", { key: app.key });
    expect(status).toBe(200);
    expect(body.data).toEqual({
      id: platform.id,
      name: "Nine Bakers",
      status: "active",
      tokenBalance: 777,
      tokenReserved: 0,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
      application: { id: app.id, name: "Planner", status: "active" },
      applications: [
        { id: sibling.id, name: "Archive", status: "active" },
        { id: app.id, name: "Planner", status: "active" },
      ],
      counts: { profiles: 1, activeApiKeys: 1, webhooks: 0, connections: 0, applications: 2 },
      auth: { kind: "api_key", apiKeyId: app.keyId, userId: null, applicationId: app.id },
    });
  });

  test("shows a session the whole platform, or the application it names", async () => {
    const platform = await aPlatform(relay, { tokens: 0 });
    const { session } = platform;
    const [left, right] = [
      await anApplication(relay, platform),
      await anApplication(relay, platform),
    ];
    await aProfile(relay, left);
    await aProfile(relay, right);
    const whole = dataOf(await relay.call("GET", "/v1/me", { session }));
    expect(whole.application).toBeNull();
    expect(whole.tokenBalance).toBe(0);
    expect(whole.counts).toMatchObject({ profiles: 2, activeApiKeys: 2, applications: 2 });
    expect(whole.auth).toEqual({
      kind: "session",
      apiKeyId: null,
      userId: platform.userId,
      applicationId: null,
      role: "owner",
      confirmedUntil: expect.stringMatching(/Z$/),
    });
    expect(whole.user).toMatchObject({ id: platform.userId, email: platform.email });
    const headers = { "x-application-id": left.id };
    const named = dataOf(await relay.call("GET", "/v1/me", { session, headers }));
    expect(named.application.id).toBe(left.id);
    expect(named.counts).toMatchObject({ profiles: 1, activeApiKeys: 1, applications: 2 });
    expect(named.auth.applicationId).toBe(left.id);
  });

  test("expired keys do not count as active", async () => {
    const app = await anApplication(relay);
    const expiresAt = new Date(relay.clock.now().getTime() + 60_000).toISOString();
    await aKey(relay, app, { expiresAt });
    const count = async () =>
      dataOf(await relay.call("GET", "/v1/me", { key: app.key })).counts.activeApiKeys;
    expect(await count()).toBe(2);
    relay.advance(60_000);
    expect(await count()).toBe(1);
  });

  test.each(["another tenant's", "an unknown", "a malformed"])(
    "%s application in the header is 404",
    async (which) => {
      const { session } = await aPlatform(relay);
      const id = {
        "another tenant's": (await anApplication(relay)).id,
        "an unknown": `app_${"0".repeat(26)}`,
        "a malformed": "planner",
      }[which];
      const headers = { "x-application-id": id ?? "" };
      const { status, body } = await relay.call("GET", "/v1/me", { session, headers });
      expect([status, body.error.code]).toEqual([404, "not_found"]);
    },
  );
});

describe("suspending a platform", () => {
  test("refuses all its keys and sessions on every instance, until it is brought back", async () => {
    const app = await anApplication(relay);
    const { id, session } = app.platform;
    const instance = await startRelay({ sameDeploymentAs: relay });
    expect((await instance.call("GET", "/v1/me", { key: app.key })).status).toBe(200);
    const set = (status: string) =>
      relay.call("PATCH", `/v1/admin/platforms/${id}`, { operator: ["Admin"], body: { status } });
    expect(dataOf(await set("suspended")).status).toBe("suspended");
    for (const credential of [{ key: app.key }, { session }]) {
      const { status, body } = await instance.call("GET", "/v1/me", credential);
      expect([status, body.error.code]).toEqual([403, "platform_suspended"]);
    }
    expect(dataOf(await set("active")).status).toBe("active");
    for (const credential of [{ key: app.key }, { session }])
      expect((await instance.call("GET", "/v1/me", credential)).status).toBe(200);
    await instance.stop();
  });
});

describe("audit", () => {
  interface Event {
    readonly action: string;
    readonly outcome: string;
    readonly requestId: string;
    readonly actor: { readonly kind: string; readonly id: string };
    readonly target: { readonly id: string } | null;
  }

  test("shows what was done and refused, newest first, to the platform alone", async () => {
    const app = await anApplication(relay);
    const { session } = app.platform;
    const headers = { "x-request-id": "find-this-one" };
    const spare = await aKey(relay, app);
    await relay.call("POST", `/v1/keys/${spare.id}/revoke`, { key: app.key, headers });
    await relay.call("POST", "/v1/applications", { key: app.key, body: { name: "No" } });
    const { status, body } = await relay.call("GET", "/v1/audit", { session });
    expect(status).toBe(200);
    const events: readonly Event[] = body.data;
    expect(events.map(({ action }) => action)).toEqual([
      "access.session_required",
      "api_key.revoked",
      "api_key.created",
      "api_key.created",
      "application.created",
      ...events.slice(5).map(({ action }) => action),
    ]);
    const revoked = events[1];
    expect(revoked).toMatchObject({
      outcome: "ok",
      requestId: "find-this-one",
      actor: { kind: "api_key", id: app.keyId },
      target: { type: "api_key", id: spare.id },
      platformId: app.platform.id,
      applicationId: app.id,
    });
    expect(events[0]?.outcome).toBe("denied");
    const other = await aPlatform(relay);
    const foreign = await relay.call("GET", "/v1/audit", { session: other.session });
    expect(JSON.stringify(foreign.body)).not.toContain(app.id);
  });

  test("a key sees its application's events; a restricted one its own and its profiles'", async () => {
    const app = await anApplication(relay);
    const sibling = await anApplication(relay, app.platform);
    await aProfile(relay, sibling);
    const profile = await aProfile(relay, app);
    const body = { scope: "restricted", allowedProfileIds: [profile.id] };
    const restricted = await aKey(relay, app, body);
    await relay.call("POST", "/v1/keys", { key: restricted.secret, body: {} });
    const seenBy = async (key: string): Promise<readonly Event[]> =>
      (await relay.call("GET", "/v1/audit", { key })).body.data;
    const byAdmin = await seenBy(app.key);
    expect(byAdmin.map(({ action }) => action)).toContain("profile.created");
    expect(JSON.stringify(byAdmin)).not.toContain(sibling.id);
    const byRestricted = await seenBy(restricted.secret);
    expect(byRestricted.map(({ action }) => action)).toEqual([
      "access.app_admin_required",
      "profile.created",
    ]);
  });

  test("operators see all platforms, page by page", async () => {
    const own = await startRelay();
    await anApplication(own);
    await anApplication(own);
    const operator = ["Operator"];
    const whole = await own.call("GET", "/v1/admin/audit?limit=100", { operator });
    const first = await own.call("GET", "/v1/admin/audit?limit=3", { operator });
    const cursor = first.body.page.nextCursor;
    const rest = await own.call("GET", `/v1/admin/audit?limit=100&cursor=${cursor}`, { operator });
    // The first look is recorded when it is over, the others within the minute are not listed again.
    const [looked, ...before] = [...first.body.data, ...rest.body.data];
    expect(looked.action).toBe("audit.listed");
    expect(before).toEqual(whole.body.data);
    const platforms = new Set(
      whole.body.data.map((event: { platformId: string }) => event.platformId),
    );
    expect(platforms.size).toBe(2);
    await own.stop();
  });

  test("each event is one log line as well, which is what lasts", async () => {
    const own = await startRelay();
    const app = await anApplication(own);
    const lines = own.logLines.map(
      (line) => JSON.parse(line) as { message: string; audit?: Event },
    );
    const logged = lines.filter(({ message }) => message === "audit").map(({ audit }) => audit);
    const { body } = await own.call("GET", "/v1/admin/audit?limit=100", { operator: ["Admin"] });
    expect(logged).toEqual(body.data.toReversed());
    expect(own.logLines.join("\n")).not.toContain(app.key);
    await own.stop();
  });
});
