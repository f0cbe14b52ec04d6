import { describe, expect, test } from "vitest";
import { newId } from "../../src/shared/runtime/ids.ts";
import { anApplication, aPlatform, dataOf } from "../setup/factories.ts";
import { startRelay } from "../setup/relay.ts";
import { useRelay } from "../setup/use-relay.ts";
import { forFile } from "../setup/for-file.ts";

const relay = useRelay();
const platform = forFile(() => aPlatform(relay));

const create = (body: unknown, session = platform.session) =>
  relay.call("POST", "/v1/applications", { session, body });

describe("creating an application", () => {
  test("comes with an app_admin key that works, and shows its secret once", async () => {
    const { status, body } = await create({ name: "Planner" });
    expect(status).toBe(201);
    const { apiKey, ...application } = body.data;
    expect(application).toEqual({
      id: expect.stringMatching(/^app_[0-9A-Z]{26}$/),
      name: "Planner",
      status: "active",
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    expect(apiKey).toEqual({
      id: expect.stringMatching(/^key_/),
      name: "Planner default",
      keyPrefix: expect.stringMatching(/^sk_live_[0-9A-Z]{8}$/),
      scope: "app_admin",
      applicationId: application.id,
      secret: expect.stringMatching(/^sk_live_/),
    });
    expect((await relay.call("GET", "/v1/me", { key: apiKey.secret })).status).toBe(200);
    const listed = await relay.call("GET", "/v1/keys", { key: apiKey.secret });
    expect(JSON.stringify(listed.body)).not.toContain(apiKey.secret);
  });

  test("an application without a default key is created without one", async () => {
    const { id, apiKey } = dataOf(await create({ name: "Bare", createDefaultKey: false }));
    expect(apiKey).toBeNull();
    const headers = { "x-application-id": id };
    const keys = await relay.call("GET", "/v1/keys", { session: platform.session, headers });
    expect(keys.body.data).toEqual([]);
  });

  test("a platform has at most a thousand applications", async () => {
    const full = await aPlatform(relay);
    const { stores } = relay.services.tenants;
    const createdAt = relay.clock.now().toISOString();
    const application = {
      name: "Planner",
      status: "active",
      createdAt,
      updatedAt: createdAt,
    } as const;
    const present = await stores.applications.listIds(full.id);
    await Promise.all(
      Array.from({ length: 999 - present.length }, () => {
        const id = newId("application", relay.clock.now());
        return stores.applications.create(full.id, { ...application, id });
      }),
    );
    expect((await create({ name: "The last" }, full.session)).status).toBe(201);
    const { status, body } = await create({ name: "One more" }, full.session);
    expect([status, body.error.code]).toEqual([409, "limit_reached"]);
    expect(await stores.applications.listIds(full.id)).toHaveLength(1_000);
  });

  test("the default key takes the name it is given", async () => {
    const { apiKey } = dataOf(await create({ name: "Named", defaultKeyName: "Server" }));
    expect(apiKey.name).toBe("Server");
  });

  test("the default key of a long name keeps to the length of a key's name", async () => {
    const { apiKey } = dataOf(await create({ name: "🚀".repeat(60) }));
    expect(apiKey.name.length).toBeLessThanOrEqual(80);
    expect(apiKey.name).toMatch(/ default$/);
    expect(apiKey.name.isWellFormed()).toBe(true);
  });

  test.each([
    ["1 character", { name: "a" }, 201],
    ["120 characters", { name: "a".repeat(120) }, 201],
    ["121 characters", { name: "a".repeat(121) }, 400],
    ["no name", {}, 400],
    ["an empty name", { name: "" }, 400],
    ["a number as a name", { name: 7 }, 400],
    ["a key name of 80 characters", { name: "a", defaultKeyName: "k".repeat(80) }, 201],
    ["a key name of 81 characters", { name: "a", defaultKeyName: "k".repeat(81) }, 400],
    ["a text as a flag", { name: "a", createDefaultKey: "yes" }, 400],
  ])("creating an application: %s", async (_name, body, expected) => {
    expect((await create(body)).status).toBe(expected);
  });

  test("a key can't create one", async () => {
    const { key } = await anApplication(relay, platform);
    const { status, body } = await relay.call("POST", "/v1/applications", {
      key,
      body: { name: "Second" },
    });
    expect([status, body.error.code]).toEqual([403, "session_required"]);
  });
});

describe("reading applications", () => {
  test("a session pages through all of its platform, newest first; a key sees its own", async () => {
    const own = await aPlatform(relay);
    const made: string[] = [];
    let key = "";
    for (let index = 0; index < 5; index += 1) {
      const { id, apiKey } = dataOf(await create({ name: `App ${index}` }, own.session));
      made.unshift(id);
      key = apiKey.secret;
    }
    const seen: string[] = [];
    let cursor: string | null = "";
    let pages = 0;
    while (cursor !== null) {
      const query = cursor === "" ? "" : `&cursor=${cursor}`;
      const answer = await relay.call("GET", `/v1/applications?limit=2${query}`, {
        session: own.session,
      });
      seen.push(...answer.body.data.map(({ id }: { id: string }) => id));
      expect(answer.body.page.hasMore).toBe(answer.body.page.nextCursor !== null);
      cursor = answer.body.page.nextCursor;
      pages += 1;
    }
    expect(seen).toEqual(made);
    expect(pages).toBe(3);
    const byKey = await relay.call("GET", "/v1/applications", { key });
    expect(byKey.body.data.map(({ id }: { id: string }) => id)).toEqual([made[0]]);
    expect(byKey.body.page).toEqual({ nextCursor: null, hasMore: false, limit: 25 });
  });

  test("a key reads its own; another one of the same platform does not exist for it", async () => {
    const [mine, other] = [
      await anApplication(relay, platform),
      await anApplication(relay, platform),
    ];
    const read = (id: string) => relay.call("GET", `/v1/applications/${id}`, { key: mine.key });
    expect((await read(mine.id)).body.data.id).toBe(mine.id);
    expect((await read(other.id)).status).toBe(404);
  });

  test.each(["limit=0", "limit=101", "limit=ten", "limit=-1", "cursor=nonsense", "unknown=1"])(
    "?%s is refused",
    async (query) => {
      const { status } = await relay.call("GET", `/v1/applications?${query}`, {
        session: platform.session,
      });
      expect(status).toBe(400);
    },
  );

  test("another platform's cursor is refused", async () => {
    const [left, right] = [await aPlatform(relay), await aPlatform(relay)];
    for (const { session } of [left, left, right])
      dataOf(await create({ name: "Any", createDefaultKey: false }, session));
    const first = await relay.call("GET", "/v1/applications?limit=1", { session: left.session });
    const path = `/v1/applications?limit=1&cursor=${first.body.page.nextCursor}`;
    expect((await relay.call("GET", path, { session: left.session })).status).toBe(200);
    const stolen = await relay.call("GET", path, { session: right.session });
    expect([stolen.status, stolen.body.error.code]).toEqual([400, "invalid_cursor"]);
  });
});

describe("changing an application", () => {
  test("a new name shows in every read and moves updatedAt", async () => {
    const { id } = await anApplication(relay, platform);
    const before = await relay.call("GET", `/v1/applications/${id}`, { session: platform.session });
    const { status, body } = await relay.call("PATCH", `/v1/applications/${id}`, {
      session: platform.session,
      body: { name: "Renamed" },
    });
    expect([status, body.data.name, body.data.status]).toEqual([200, "Renamed", "active"]);
    expect(body.data.updatedAt > before.body.data.updatedAt).toBe(true);
    expect(body.data.createdAt).toBe(before.body.data.createdAt);
  });

  test("disabled, its keys are refused at once on every instance; enabled, they work again", async () => {
    const { id, key } = await anApplication(relay, platform);
    const sibling = await anApplication(relay, platform);
    const instance = await startRelay({ sameDeploymentAs: relay });
    expect((await instance.call("GET", "/v1/me", { key })).status).toBe(200);
    const set = (status: string) =>
      relay.call("PATCH", `/v1/applications/${id}`, {
        session: platform.session,
        body: { status },
      });
    expect((await set("disabled")).body.data.status).toBe("disabled");
    const refused = await instance.call("GET", "/v1/me", { key });
    expect([refused.status, refused.body.error.code]).toEqual([403, "application_disabled"]);
    expect((await instance.call("GET", "/v1/me", { key: sibling.key })).status).toBe(200);
    expect((await instance.call("GET", "/v1/me", { session: platform.session })).status).toBe(200);
    await set("active");
    expect((await instance.call("GET", "/v1/me", { key })).status).toBe(200);
    await instance.stop();
  });

  test("a key can't change one, not even its own", async () => {
    const { id, key } = await anApplication(relay, platform);
    const body = { name: "Mine" };
    const answer = await relay.call("PATCH", `/v1/applications/${id}`, { key, body });
    expect([answer.status, answer.body.error.code]).toEqual([403, "session_required"]);
  });

  test.each([
    ["an unknown status", { status: "deleted" }],
    ["an empty name", { name: "" }],
    ["a protected field", { createdAt: "2020-01-01T00:00:00Z" }],
  ])("%s is refused and nothing changes", async (_name, body) => {
    const { id } = await anApplication(relay, platform);
    const session = platform.session;
    const before = await relay.call("GET", `/v1/applications/${id}`, { session });
    const answer = await relay.call("PATCH", `/v1/applications/${id}`, { session, body });
    expect(answer.status).toBe(400);
    const after = await relay.call("GET", `/v1/applications/${id}`, { session });
    expect(after.body).toEqual(before.body);
  });

  test("another tenant's, an unknown one and what is no id are the same 404", async () => {
    const other = await anApplication(relay);
    const session = platform.session;
    const answers = [];
    for (const id of [other.id, `app_${"0".repeat(26)}`, "app_x", "P"]) {
      answers.push(await relay.call("GET", `/v1/applications/${id}`, { session }));
      const body = { name: "Taken over" };
      answers.push(await relay.call("PATCH", `/v1/applications/${id}`, { session, body }));
    }
    const bodies = answers.map(({ status, body }) => {
      const { requestId: _, ...error } = body.error;
      return JSON.stringify([status, error]);
    });
    expect(new Set(bodies).size).toBe(1);
    expect(answers[0]?.status).toBe(404);
  });
});
