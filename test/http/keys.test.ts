import { describe, expect, test } from "vitest";
import { aKey, anApplication, aPlatform, aProfile, dataOf } from "../setup/factories.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { useTwoProcesses } from "../setup/use-relay.ts";
import { forFile } from "../setup/for-file.ts";

const { relay, instance } = useTwoProcesses();
const application = forFile(() => anApplication(relay));

const create = (body: unknown, key = application.key) =>
  relay.call("POST", "/v1/keys", { key, body });

async function statusOf(key: string, on: Relay = relay): Promise<string> {
  const { status, body } = await on.call("GET", "/v1/me", { key });
  return status === 200 ? "ok" : `${status} ${body.error.code}`;
}

describe("creating a key", () => {
  test("creating a key with nothing but defaults makes an app_admin key without expiry", async () => {
    const { status, body } = await create({});
    expect(status).toBe(201);
    expect(body.data).toEqual({
      id: expect.stringMatching(/^key_/),
      applicationId: application.id,
      name: "API key",
      scope: "app_admin",
      allowedProfileIds: [],
      keyPrefix: expect.stringMatching(/^sk_live_[0-9A-Z]{8}$/),
      status: "active",
      expiresAt: null,
      lastUsedAt: null,
      createdAt: expect.stringMatching(/Z$/),
      createdBy: { kind: "api_key", id: application.keyId },
      secret: expect.stringMatching(/^sk_live_/),
    });
    expect(body.data.secret.startsWith(body.data.keyPrefix)).toBe(true);
    expect(await statusOf(body.data.secret)).toBe("ok");
  });

  test("no body at all is a body with no fields", async () => {
    expect((await relay.call("POST", "/v1/keys", { key: application.key })).status).toBe(201);
  });

  test("a restricted key keeps its allowlist, each profile once; an app_admin key has none", async () => {
    const profile = await aProfile(relay, application);
    const allowedProfileIds = [profile.id, profile.id];
    const restricted = dataOf(await create({ scope: "restricted", allowedProfileIds }));
    expect(restricted.allowedProfileIds).toEqual([profile.id]);
    expect(dataOf(await create({ allowedProfileIds })).allowedProfileIds).toEqual([]);
  });

  test("an offset in expiresAt is understood, and stored as UTC", async () => {
    const { expiresAt } = dataOf(await create({ expiresAt: "2030-06-01T12:00:00+02:00" }));
    expect(expiresAt).toBe("2030-06-01T10:00:00.000Z");
  });

  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => `prf_${String(index).padStart(26, "0")}`);
  test.each([
    ["a name of 80 characters", { name: "k".repeat(80) }, 201],
    ["a name of 81 characters", { name: "k".repeat(81) }, 400],
    ["500 allowed profiles", { scope: "restricted", allowedProfileIds: many(500) }, 201],
    ["501 allowed profiles", { scope: "restricted", allowedProfileIds: many(501) }, 400],
    ["an allowed profile that is none", { allowedProfileIds: ["app_1"] }, 400],
    ["an unknown scope", { scope: "root" }, 400],
    ["no expiry said explicitly", { expiresAt: null }, 201],
    ["an expiry without offset", { expiresAt: "2030-06-01T12:00:00" }, 400],
    ["an expiry in the past", { expiresAt: "2020-06-01T12:00:00Z" }, 400],
    ["an expiry that is no time", { expiresAt: "soon" }, 400],
    ["a secret of one's own", { secret: "sk_live_mine" }, 400],
  ])("creating a key: %s", async (_name, body, expected) => {
    expect((await create(body)).status).toBe(expected);
  });

  test("a long allowlist is kept whole", async () => {
    const allowedProfileIds = many(500);
    const { id } = dataOf(await create({ scope: "restricted", allowedProfileIds }));
    const listed = await relay.call("GET", "/v1/keys?limit=100", { key: application.key });
    const key = listed.body.data.find((item: { id: string }) => item.id === id);
    expect(key.allowedProfileIds).toEqual(allowedProfileIds);
  });

  test("creating a key for another application is refused, whether that exists or not", async () => {
    const sibling = await anApplication(relay, application.platform);
    for (const applicationId of [sibling.id, `app_${"0".repeat(26)}`]) {
      const { status, body } = await create({ applicationId });
      expect([status, body.error.code]).toEqual([403, "application_mismatch"]);
    }
    expect((await create({ applicationId: application.id })).status).toBe(201);
  });

  test("a session names the application in the body or the header, and may not contradict itself", async () => {
    const { session } = application.platform;
    const sibling = await anApplication(relay, application.platform);
    const post = (body: unknown, headers: Record<string, string> = {}) =>
      relay.call("POST", "/v1/keys", { session, body, headers });
    const neither = await post({});
    expect([neither.status, neither.body.error.code]).toEqual([400, "application_header_required"]);
    expect(dataOf(await post({ applicationId: sibling.id })).applicationId).toBe(sibling.id);
    const header = { "x-application-id": sibling.id };
    expect(dataOf(await post({}, header)).applicationId).toBe(sibling.id);
    expect((await post({ applicationId: sibling.id }, header)).status).toBe(201);
    expect((await post({ applicationId: application.id }, header)).status).toBe(403);
    const foreign = await anApplication(relay);
    expect((await post({ applicationId: foreign.id })).status).toBe(404);
    expect((await post({}, { "x-application-id": foreign.id })).status).toBe(404);
  });

  test("a key's X-Application-Id is ignored: its own application always wins", async () => {
    const sibling = await anApplication(relay, application.platform);
    const headers = { "x-application-id": sibling.id };
    const call = { key: application.key, headers, body: {} };
    const { applicationId } = dataOf(await relay.call("POST", "/v1/keys", call));
    expect(applicationId).toBe(application.id);
  });
});

describe("listing keys", () => {
  test("a key sees its application's, a session the platform's or those of the named application", async () => {
    const platform = await aPlatform(relay);
    const [left, right] = [
      await anApplication(relay, platform),
      await anApplication(relay, platform),
    ];
    const extra = await aKey(relay, left, { name: "Extra" });
    const ids = async (call: object) => {
      const answer = await relay.call("GET", "/v1/keys", call);
      expect(JSON.stringify(answer.body)).not.toContain('"secret"');
      return answer.body.data.map(({ id }: { id: string }) => id);
    };
    const { session } = platform;
    expect(await ids({ key: left.key })).toEqual([extra.id, left.keyId]);
    expect(await ids({ session })).toEqual([extra.id, right.keyId, left.keyId]);
    const headers = { "x-application-id": right.id };
    expect(await ids({ session, headers })).toEqual([right.keyId]);
  });

  test("pages hold what they promise", async () => {
    const own = await anApplication(relay);
    const made = [own.keyId];
    for (let index = 0; index < 4; index += 1) made.unshift((await aKey(relay, own)).id);
    const first = await relay.call("GET", "/v1/keys?limit=3", { key: own.key });
    const cursor = first.body.page.nextCursor;
    const second = await relay.call("GET", `/v1/keys?limit=3&cursor=${cursor}`, { key: own.key });
    const seen = [...first.body.data, ...second.body.data].map(({ id }) => id);
    expect(seen).toEqual(made);
    expect(second.body.page.hasMore).toBe(false);
  });

  test("lastUsedAt is right to the minute", async () => {
    const { id, secret } = await aKey(relay, application);
    const lastUsedAt = async () => {
      const answer = await relay.call("GET", "/v1/keys?limit=100", { key: application.key });
      return answer.body.data.find((key: { id: string }) => key.id === id).lastUsedAt;
    };
    expect(await lastUsedAt()).toBeNull();
    await statusOf(secret);
    await expect.poll(lastUsedAt).not.toBeNull();
    const first = await lastUsedAt();
    await statusOf(secret);
    relay.advance(61_000);
    await statusOf(secret);
    await expect
      .poll(async () => Date.parse(await lastUsedAt()))
      .toBeGreaterThan(Date.parse(first) + 60_000);
  });
});

describe("ending a key", () => {
  test("revoked, it is refused on the next request everywhere, says so, and stays listed", async () => {
    const { id, secret } = await aKey(relay, application);
    expect(await statusOf(secret, instance)).toBe("ok");
    const revoke = () => relay.call("POST", `/v1/keys/${id}/revoke`, { key: application.key });
    const { status, body } = await revoke();
    expect([status, body]).toEqual([204, undefined]);
    expect(await statusOf(secret, instance)).toBe("401 api_key_revoked");
    expect((await revoke()).status).toBe(204);
    const listed = await relay.call("GET", "/v1/keys?limit=100", { key: application.key });
    expect(listed.body.data.find((key: { id: string }) => key.id === id).status).toBe("revoked");
  });

  test("deleted, it is gone without a trace", async () => {
    const { id, secret } = await aKey(relay, application);
    expect(await statusOf(secret, instance)).toBe("ok");
    const remove = () => relay.call("DELETE", `/v1/keys/${id}`, { key: application.key });
    expect((await remove()).status).toBe(204);
    expect(await statusOf(secret, instance)).toBe("401 invalid_credentials");
    expect((await remove()).status).toBe(404);
    const listed = await relay.call("GET", "/v1/keys?limit=100", { key: application.key });
    expect(listed.body.data.map((key: { id: string }) => key.id)).not.toContain(id);
    expect(await relay.services.tenants.stores.keys.findWithHash(id)).toBeUndefined();
  });

  test("expired, it is refused and shown as expired; revoked wins over expired", async () => {
    const own = await startRelay();
    const app = await anApplication(own);
    const expiresAt = new Date(own.clock.now().getTime() + 60_000).toISOString();
    const [expiring, revoked] = [
      await aKey(own, app, { expiresAt }),
      await aKey(own, app, { expiresAt }),
    ];
    await own.call("POST", `/v1/keys/${revoked.id}/revoke`, { key: app.key });
    expect(await statusOf(expiring.secret, own)).toBe("ok");
    own.advance(60_000);
    expect(await statusOf(expiring.secret, own)).toBe("401 api_key_expired");
    expect(await statusOf(revoked.secret, own)).toBe("401 api_key_revoked");
    const listed = await own.call("GET", "/v1/keys", { key: app.key });
    const statuses = listed.body.data.map((key: { status: string }) => key.status);
    expect(statuses).toEqual(["revoked", "expired", "active"]);
    await own.stop();
  });

  test("a wrong secret learns nothing of the key's state", async () => {
    const { id, secret } = await aKey(relay, application);
    await relay.call("POST", `/v1/keys/${id}/revoke`, { key: application.key });
    const { newApiKey } = await import("../../src/shared/runtime/secrets.ts");
    const guessed = newApiKey(id).secret;
    expect(guessed).not.toBe(secret);
    expect(await statusOf(guessed)).toBe("401 invalid_credentials");
  });

  test("a hundred uses beside revoke and rename never disturb them", async () => {
    const { id, secret } = await aKey(relay, application);
    const { key } = application;
    const uses = Array.from({ length: 100 }, (_, index) => {
      if (index % 10 === 0) relay.advance(61_000);
      return statusOf(secret, index % 2 === 0 ? relay : instance);
    });
    const rename = relay.call("PATCH", `/v1/keys/${id}`, { key, body: { name: "Busy" } });
    const revoke = instance.call("POST", `/v1/keys/${id}/revoke`, { key });
    expect((await rename).status).toBe(200);
    expect((await revoke).status).toBe(204);
    for (const outcome of await Promise.all(uses))
      expect(["ok", "401 api_key_revoked"]).toContain(outcome);
    expect(await statusOf(secret)).toBe("401 api_key_revoked");
  });

  test("renamed, a revoked key stays revoked", async () => {
    const { id, secret } = await aKey(relay, application);
    const { key } = application;
    await relay.call("POST", `/v1/keys/${id}/revoke`, { key });
    const { status, body } = await relay.call("PATCH", `/v1/keys/${id}`, {
      key,
      body: { name: "Old server" },
    });
    expect([status, body.data.name, body.data.status]).toEqual([200, "Old server", "revoked"]);
    expect(await statusOf(secret)).toBe("401 api_key_revoked");
  });

  test.each([
    ["an empty name", { name: "" }],
    ["no name", {}],
    ["81 characters", { name: "k".repeat(81) }],
    ["another scope", { name: "k", scope: "app_admin" }],
  ])("renaming to %s is refused", async (_name, body) => {
    const { id } = await aKey(relay, application);
    const answer = await relay.call("PATCH", `/v1/keys/${id}`, { key: application.key, body });
    expect(answer.status).toBe(400);
  });

  test("another application's, another tenant's and an unknown key are the same 404, and stay", async () => {
    const sibling = await anApplication(relay, application.platform);
    const foreign = await anApplication(relay);
    const answers: string[] = [];
    for (const id of [sibling.keyId, foreign.keyId, `key_${"0".repeat(26)}`, "key_x", "K"]) {
      const { key } = application;
      const calls = [
        await relay.call("PATCH", `/v1/keys/${id}`, { key, body: { name: "Mine" } }),
        await relay.call("POST", `/v1/keys/${id}/revoke`, { key }),
        await relay.call("DELETE", `/v1/keys/${id}`, { key }),
      ];
      for (const { status, body } of calls) {
        const { requestId: _, ...error } = body.error;
        answers.push(JSON.stringify([status, error]));
      }
    }
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain("404");
    expect(await statusOf(sibling.key)).toBe("ok");
    expect(await statusOf(foreign.key)).toBe("ok");
  });
});

describe("what a restricted key may do with keys", () => {
  test("nothing but read the list", async () => {
    const profile = await aProfile(relay, application);
    const body = { scope: "restricted", allowedProfileIds: [profile.id] };
    const { id, secret: key } = await aKey(relay, application, body);
    expect((await relay.call("GET", "/v1/keys", { key })).status).toBe(200);
    const refused = [
      await relay.call("POST", "/v1/keys", { key, body: {} }),
      await relay.call("PATCH", `/v1/keys/${id}`, { key, body: { name: "Wide" } }),
      await relay.call("POST", `/v1/keys/${application.keyId}/revoke`, { key }),
      await relay.call("DELETE", `/v1/keys/${application.keyId}`, { key }),
      await relay.call("POST", "/v1/profile-grants", { key, body: { profileId: profile.id } }),
    ];
    for (const answer of refused)
      expect([answer.status, answer.body.error.code]).toEqual([403, "app_admin_required"]);
    expect(await statusOf(application.key)).toBe("ok");
  });
});

describe("what a key costs to check", () => {
  test("once a process knows where it belongs, everything is read side by side", async () => {
    const fresh = await startRelay({ sameDeploymentAs: relay });
    const { verifyKey } = await import("../../src/shared/tenants/keys/verify-key.ts");
    const { storedRows } = await import("../../src/shared/people/access-rows.ts");
    const verify = () => {
      let started = false;
      const presented = { presented: application.key, rows: storedRows(fresh.services) };
      const verified = verifyKey(fresh.services.tenants, presented, async ({ platformId }) => {
        started = true;
        return platformId;
      });
      return { verified, startedAtOnce: started };
    };
    const cold = verify();
    expect(cold.startedAtOnce).toBe(false);
    expect((await cold.verified).alongside).toBe(application.platform.id);
    const warm = verify();
    expect(warm.startedAtOnce).toBe(true);
    expect(await warm.verified).toEqual(await cold.verified);
    await fresh.stop();
  });

  test("a mistyped one costs no look-up", async () => {
    const fresh = await startRelay({
      emulatedTables: true,
      // Nobody answers there: a look-up would be a 503.
      settings: {
        AzureWebJobsStorage:
          "DefaultEndpointsProtocol=http;AccountName=a;AccountKey=Yg==;TableEndpoint=http://127.0.0.1:9/a;QueueEndpoint=http://127.0.0.1:9/a;",
      },
    });
    const { newApiKey } = await import("../../src/shared/runtime/secrets.ts");
    const { secret } = newApiKey(application.keyId);
    const other = secret.endsWith("0") ? "1" : "0";
    expect(await statusOf(secret.slice(0, -1) + other, fresh)).toBe("401 invalid_credentials");
    expect(await statusOf(secret, fresh)).toBe("503 service_unavailable");
    await fresh.stop();
  });
});

describe("what is stored of a key", () => {
  test("neither the secret nor a hash of it alone", async () => {
    const { id, secret } = await aKey(relay, application);
    const { parseApiKey, sha256Hex } = await import("../../src/shared/runtime/secrets.ts");
    const { core, keys } = relay.tables;
    const partitionKey = application.platform.id;
    const rows = [
      ...(await keys.list({ partitionKey: id, limit: 10 })),
      ...(await core.list({ partitionKey, from: "K|", before: "K}", limit: 100 })),
    ];
    expect(rows.length).toBeGreaterThan(1);
    const stored = JSON.stringify(rows);
    const secretPart = parseApiKey(secret)?.secretPart ?? "";
    for (const text of [secret, secretPart, sha256Hex(secretPart), sha256Hex(secret)])
      expect(stored).not.toContain(text);
  });
});
