import { describe, expect, test } from "vitest";
import { aKey, anApplication, aPlatform, aProfile, dataOf } from "../setup/factories.ts";
import type { TestApplication } from "../setup/factories.ts";
import type { Relay } from "../setup/relay.ts";
import { idsOf, useProfiles } from "./profile-calls.ts";

let relay: Relay;
let application: TestApplication;

const { create, read, patch } = useProfiles((fresh) => {
  ({ relay, application } = fresh);
});

const statusesOf = (answers: readonly { readonly status: number }[]) =>
  answers.map(({ status }) => status).sort((left, right) => left - right);

describe("creating a profile", () => {
  test("answers with everything that is known of it", async () => {
    const metadata = { tier: "gold", "sales/region": "north" };
    const { status, body } = await create({ title: "Corner Bakery", externalId: "c-1", metadata });
    expect(status).toBe(201);
    expect(body.data).toEqual({
      id: expect.stringMatching(/^prf_[0-9A-Z]{26}$/),
      applicationId: application.id,
      title: "Corner Bakery",
      externalId: "c-1",
      metadata,
      status: "active",
      connections: [],
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    expect((await read(body.data.id)).body).toEqual(body);
  });

  test("a session has to name the application", async () => {
    const { session } = application.platform;
    const body = { title: "Bakery" };
    const bare = await relay.call("POST", "/v1/profiles", { session, body });
    expect([bare.status, bare.body.error.code]).toEqual([400, "application_header_required"]);
    const headers = { "x-application-id": application.id };
    const named = await relay.call("POST", "/v1/profiles", { session, body, headers });
    expect(named.body.data.applicationId).toBe(application.id);
  });

  test("a restricted key can't make profiles", async () => {
    const { secret } = await aKey(relay, application, { scope: "restricted" });
    const { status, body } = await create({ title: "Bakery" }, secret);
    expect([status, body.error.code]).toEqual([403, "app_admin_required"]);
  });

  const names = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`name${index}`, "x"]));
  test.each([
    ["a title of 120 characters", { title: "t".repeat(120) }, 201],
    ["a title of 121 characters", { title: "t".repeat(121) }, 400],
    ["no title", {}, 400],
    ["an empty title", { title: "" }, 400],
    ["a title with half a surrogate pair", { title: "\ud83d" }, 400],
    ["a title with a NUL character", { title: "a\u0000b" }, 400],
    ["an externalId of 255 characters", { title: "t", externalId: "e".repeat(255) }, 201],
    ["an externalId of 256 characters", { title: "t", externalId: "e".repeat(256) }, 400],
    ["50 metadata names", { title: "t", metadata: names(50) }, 201],
    ["51 metadata names", { title: "t", metadata: names(51) }, 400],
    ["a metadata name of 64 characters", { title: "t", metadata: { ["n".repeat(64)]: "v" } }, 201],
    ["a metadata name of 65 characters", { title: "t", metadata: { ["n".repeat(65)]: "v" } }, 400],
    ["a metadata value of 500 characters", { title: "t", metadata: { n: "v".repeat(500) } }, 201],
    ["a metadata value of 501 characters", { title: "t", metadata: { n: "v".repeat(501) } }, 400],
    ["a number in metadata", { title: "t", metadata: { n: 1 } }, 400],
    ["an object in metadata", { title: "t", metadata: { n: {} } }, 400],
    ["an array as metadata", { title: "t", metadata: [] }, 400],
    ["a status", { title: "t", status: "disabled" }, 400],
    ["an id of one's own", { title: "t", id: "prf_1" }, 400],
  ])("creating a profile: %s", async (_name, body, expected) => {
    expect((await create(body)).status).toBe(expected);
  });

  test("the largest metadata that is allowed is kept, whatever its characters", async () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [
        `${index}`.padStart(64, "\u0001"),
        "\u0001".repeat(500),
      ]),
    );
    const { id } = dataOf(await create({ title: "Large", metadata }));
    expect((await read(id)).body.data.metadata).toEqual(metadata);
  });

  test.each([
    ["__proto__", '{"title":"t","metadata":{"__proto__":"x"}}', "metadata.__proto__"],
    ["constructor", '{"title":"t","metadata":{"constructor":"x"}}', "metadata.constructor"],
    ["__proto__ on top", '{"title":"t","__proto__":{"status":"disabled"}}', "__proto__"],
  ])("the name %s is refused", async (_name, rawBody, path) => {
    const headers = { "content-type": "application/json" };
    const call = { key: application.key, headers, rawBody };
    const { status, body } = await relay.call("POST", "/v1/profiles", call);
    expect(status).toBe(400);
    expect(body.error.details.issues[0].path).toBe(path);
  });
});

describe("external ids", () => {
  test("a taken one is 409 and names the profile that has it", async () => {
    const first = await aProfile(relay, application, { externalId: "taken" });
    const { status, body } = await create({ title: "Second", externalId: "taken" });
    expect([status, body.error.code]).toEqual([409, "conflict"]);
    expect(body.error.details).toEqual({ existingId: first.id });
  });

  test("external ids are unique within the application, not beyond it", async () => {
    const sibling = await anApplication(relay, application.platform);
    const foreign = await anApplication(relay);
    await aProfile(relay, application, { externalId: "shared" });
    for (const { key } of [sibling, foreign])
      expect((await create({ title: "Other", externalId: "shared" }, key)).status).toBe(201);
  });

  test("of twenty profiles created at once with one external id, one is made and all others name it", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => create({ title: "Race", externalId: "race" })),
    );
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    for (const { status, body } of answers.filter((answer) => answer !== made[0])) {
      expect(status).toBe(409);
      expect(body.error.details.existingId).toBe(made[0]?.body.data.id);
    }
  });

  test.each([null, ""])("%j clears it, and frees it for another profile", async (empty) => {
    const externalId = `free-${String(empty)}`;
    const { id } = await aProfile(relay, application, { externalId });
    const { status, body } = await patch(id, { externalId: empty });
    expect([status, body.data.externalId]).toEqual([200, null]);
    expect((await read(id)).body.data.externalId).toBeNull();
    expect((await create({ title: "Next", externalId })).status).toBe(201);
  });

  test("changing it frees the old one and takes the new one", async () => {
    const { id } = await aProfile(relay, application, { externalId: "old-name" });
    expect((await patch(id, { externalId: "new-name" })).body.data.externalId).toBe("new-name");
    expect((await create({ title: "a", externalId: "new-name" })).status).toBe(409);
    expect((await create({ title: "b", externalId: "old-name" })).status).toBe(201);
  });

  test("changing to a taken one is 409 and changes nothing", async () => {
    const holder = await aProfile(relay, application, { externalId: "held" });
    const { id } = await aProfile(relay, application, { externalId: "mine" });
    const { status, body } = await patch(id, { externalId: "held", title: "Renamed" });
    expect([status, body.error.details.existingId]).toEqual([409, holder.id]);
    expect((await read(id)).body.data).toMatchObject({
      externalId: "mine",
      title: "Corner Bakery",
    });
    expect((await patch(id, { externalId: "mine" })).status).toBe(200);
  });

  test("two profiles that reach for one at the same time: one gets it", async () => {
    const [left, right] = [await aProfile(relay, application), await aProfile(relay, application)];
    const answers = await Promise.all(
      [left, right].map(({ id }) => patch(id, { externalId: "contested" })),
    );
    expect(statusesOf(answers)).toEqual([200, 409]);
  });

  test("concurrent changes of one profile all count", async () => {
    const { id } = await aProfile(relay, application);
    const answers = await Promise.all([
      patch(id, { title: "New title" }),
      patch(id, { externalId: "concurrent" }),
      patch(id, { metadata: { a: "b" } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await read(id)).body.data).toMatchObject({
      title: "New title",
      externalId: "concurrent",
      metadata: { a: "b" },
    });
  });

  test("differ by case, and may hold any text", async () => {
    for (const externalId of ["CASE", "case", "with/slash#and?", "ключ", " space "])
      expect((await create({ title: "t", externalId })).body.data.externalId).toBe(externalId);
  });
});

describe("disabling a profile", () => {
  test("DELETE disables it, keeps it readable, and PATCH brings it back", async () => {
    const { id } = await aProfile(relay, application, { externalId: "kept" });
    const { key } = application;
    const { status, body } = await relay.call("DELETE", `/v1/profiles/${id}`, { key });
    expect([status, body.data.status, body.data.externalId]).toEqual([200, "disabled", "kept"]);
    expect((await relay.call("DELETE", `/v1/profiles/${id}`, { key })).status).toBe(200);
    expect((await create({ title: "t", externalId: "kept" })).status).toBe(409);
    expect((await patch(id, { status: "active" })).body.data.status).toBe("active");
    expect((await read(id)).body.data).toMatchObject({ status: "active", externalId: "kept" });
  });

  test("a disabled one may not publish or validate, but can be read", async () => {
    const { id } = await aProfile(relay, application);
    await patch(id, { status: "disabled" });
    const headers = { "x-profile-id": id, "idempotency-key": "disabled-1" };
    const call = { key: application.key, headers, body: { text: "Hello", platforms: ["bluesky"] } };
    for (const path of ["/v1/posts", "/v1/posts/validate"]) {
      const { status, body } = await relay.call("POST", path, call);
      expect([status, body.error.code]).toEqual([403, "profile_disabled"]);
    }
    expect((await relay.call("GET", "/v1/posts", { key: application.key, headers })).status).toBe(
      200,
    );
  });

  test.each([
    ["an unknown status", { status: "deleted" }],
    ["an empty title", { title: "" }],
    ["a null title", { title: null }],
    ["another application", { applicationId: `app_${"0".repeat(26)}` }],
    ["a protected time", { createdAt: "2020-01-01T00:00:00Z" }],
  ])("%s is refused and changes nothing", async (_name, body) => {
    const { id } = await aProfile(relay, application);
    const before = await read(id);
    expect((await patch(id, body)).status).toBe(400);
    expect((await read(id)).body).toEqual(before.body);
  });
});

describe("listing profiles", () => {
  test("newest first, page by page, each once", async () => {
    const own = await anApplication(relay);
    const made: string[] = [];
    for (let index = 0; index < 5; index += 1) made.unshift((await aProfile(relay, own)).id);
    const seen: string[] = [];
    let query = "limit=2";
    for (let page = 0; page < 3; page += 1) {
      const answer = await relay.call("GET", `/v1/profiles?${query}`, { key: own.key });
      seen.push(...idsOf(answer));
      query = `limit=2&cursor=${answer.body.page.nextCursor}`;
      expect(answer.body.page.hasMore).toBe(page < 2);
    }
    expect(seen).toEqual(made);
  });

  test("a key sees its application's, a session its platform's or the named application's", async () => {
    const platform = await aPlatform(relay);
    const [left, right] = [
      await anApplication(relay, platform),
      await anApplication(relay, platform),
    ];
    const inLeft = await aProfile(relay, left);
    const inRight = await aProfile(relay, right);
    const { session } = platform;
    const headers = { "x-application-id": left.id };
    const list = (call: object) => relay.call("GET", "/v1/profiles", call);
    expect(idsOf(await list({ key: left.key }))).toEqual([inLeft.id]);
    expect(idsOf(await list({ key: left.key, headers: { "x-application-id": right.id } }))).toEqual(
      [inLeft.id],
    );
    expect(idsOf(await list({ session }))).toEqual([inRight.id, inLeft.id]);
    expect(idsOf(await list({ session, headers }))).toEqual([inLeft.id]);
  });

  test("filters by externalId and by status", async () => {
    const platform = await aPlatform(relay);
    const [own, sibling] = [
      await anApplication(relay, platform),
      await anApplication(relay, platform),
    ];
    const a = await aProfile(relay, own, { externalId: "a" });
    const b = await aProfile(relay, own, { externalId: "b" });
    const twin = await aProfile(relay, sibling, { externalId: "a" });
    await patch(b.id, { status: "disabled" }, own.key);
    const list = async (query: string, call: object = { key: own.key }) =>
      idsOf(await relay.call("GET", `/v1/profiles?${query}`, call));
    expect(await list("externalId=a")).toEqual([a.id]);
    expect(await list("externalId=none")).toEqual([]);
    expect(await list("status=disabled")).toEqual([b.id]);
    expect(await list("status=active")).toEqual([a.id]);
    expect(await list("externalId=b&status=active")).toEqual([]);
    expect(await list("externalId=a", { session: platform.session })).toEqual([twin.id, a.id]);
    expect((await relay.call("GET", "/v1/profiles?status=gone", { key: own.key })).status).toBe(
      400,
    );
  });

  test("a cursor is good only for the query that it came from", async () => {
    const own = await anApplication(relay);
    for (const _ of [1, 2]) await aProfile(relay, own);
    const first = await relay.call("GET", "/v1/profiles?limit=1", { key: own.key });
    const cursor = first.body.page.nextCursor;
    const other = `/v1/profiles?limit=1&status=active&cursor=${cursor}`;
    const { status, body } = await relay.call("GET", other, { key: own.key });
    expect([status, body.error.code]).toEqual([400, "invalid_cursor"]);
  });
});
