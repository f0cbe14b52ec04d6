import { HEAD_KEY } from "../../src/shared/partition/head-row.ts";
import { isIP } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EVENT_TYPES } from "../../src/shared/events/events.ts";
import {
  aKey,
  anApplication,
  aPlatform,
  dataOf,
  type TestApplication,
} from "../setup/factories.ts";
import { startNameServer, type NameAnswer, type NameServer } from "../setup/name-server.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { happen } from "../webhooks/subscriber.ts";

const URL = "https://receiver.example.test/relay";
/** What is sent there meets nobody. */
const settings = {
  OUTBOUND_HOST_MAP: JSON.stringify({ "receiver.example.test": "http://127.0.0.1:1" }),
  OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32",
};
let relay: Relay;
/** Where names lead; all others nowhere, as if no server answered. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "inside.example.org": ["10.1.2.3"],
  "half-inside.example.org": ["93.184.215.14", "fd00::1"],
  "outside.example.org": ["93.184.215.14"],
};
beforeAll(async () => {
  const resolve = (host: string) =>
    Promise.resolve((NAMES[host] ?? []).map((address) => ({ address, family: isIP(address) })));
  relay = await startRelay({ settings, names: { resolve, texts: () => Promise.resolve([]) } });
});
afterAll(() => relay.stop());

const create = ({ key }: Pick<TestApplication, "key">, body: object = { url: URL }) =>
  relay.call("POST", "/v1/webhooks", { key, body });
const list = ({ key }: Pick<TestApplication, "key">, query = "") =>
  relay.call("GET", `/v1/webhooks${query}`, { key });
const patch = ({ key }: TestApplication, id: string, body: object) =>
  relay.call("PATCH", `/v1/webhooks/${id}`, { key, body });
const balanceOf = async ({ key }: TestApplication) =>
  dataOf(await relay.call("GET", "/v1/billing/balance", { key })).tokenBalance;
const issuesOf = (answer: { readonly body: { readonly error: { details: object } } }) =>
  (answer.body.error.details as { issues: { path: string; message: string }[] }).issues;

const IMPOSSIBLE = "must have a host name that can exist on the public internet";
/** One message for names that don't exist and names that are private, which a caller must not tell apart. */
const NOT_PUBLIC =
  '"url" must have a host name that leads to a public address: check its spelling and its DNS records.';
const HTTPS_ONLY = "must be an https URL: http://localhost is accepted in a local run only";
const CREDENTIALS =
  "must not carry a user name or a password: leave them out, and verify the signature of each delivery";
const MISREAD_HOST =
  "must have its host name as it is: without escapes, invisible or full-width characters, and an IPv4 address as four decimal numbers";

describe("an endpoint at a name that name servers are asked for", () => {
  let servers: NameServer;
  let asking: Relay;
  beforeAll(async () => {
    const answers: Readonly<Record<string, NameAnswer>> = {
      "gone.example.org": "nxdomain",
      "broken.example.org": "servfail",
      "bare.example.org": {},
      "here.example.org": { a: ["93.184.215.14"] },
      // A name server that answers for one family alone.
      "half.example.org": { a: ["93.184.215.14"] },
    };
    servers = await startNameServer((name, family) =>
      name === "half.example.org" && family === 6 ? "nxdomain" : (answers[name] ?? "nxdomain"),
    );
    asking = await startRelay({ settings: { OUTBOUND_NAME_SERVERS: servers.address } });
  });
  afterAll(async () => {
    await asking.stop();
    await servers.stop();
  });

  test("an endpoint at a name that name servers are asked for is refused before it is charged where there is no such name", async () => {
    const { key } = await anApplication(asking);
    const balance = async () =>
      dataOf(await asking.call("GET", "/v1/billing/balance", { key })).tokenBalance;
    const before = await balance();
    const body = { url: "https://gone.example.org/relay" };
    const answer = await asking.call("POST", "/v1/webhooks", { key, body });
    expect(answer.status).toBe(400);
    expect(issuesOf(answer)).toMatchObject([{ path: "url", message: NOT_PUBLIC }]);
    expect(await balance()).toBe(before);
  });

  test.each(["here", "half", "broken", "bare"])(
    "an endpoint at a name is taken otherwise: %s",
    async (name) => {
      const { key } = await anApplication(asking);
      const body = { url: `https://${name}.example.org/relay` };
      expect((await asking.call("POST", "/v1/webhooks", { key, body })).status).toBe(201);
    },
  );
});

describe("registering an endpoint", () => {
  test.each(["inside", "half-inside"])(
    "an endpoint at a private address (%s) is refused with everything else",
    async (name) => {
      const application = await anApplication(relay);
      const url = `https://${name}.example.org/`;
      const answer = await create(application, { url, events: ["nope"] });
      expect(answer.status).toBe(400);
      expect(issuesOf(answer).map(({ path }) => path)).toEqual(["events.0", "url"]);
      expect(issuesOf(answer)[1]?.message).toBe(NOT_PUBLIC);
      expect((await create(application, { url })).status).toBe(400);
    },
  );

  test("registering an endpoint at a public name, or one that nobody can tell anything of yet, is taken, and may not be moved inside", async () => {
    const application = await anApplication(relay);
    for (const name of ["outside", "not-yet"]) {
      const answer = await create(application, { url: `https://${name}.example.org/` });
      expect(answer.status).toBe(201);
      const url = "https://inside.example.org/";
      expect((await patch(application, dataOf(answer).id, { url })).status).toBe(400);
    }
  });

  test("registering an endpoint with nothing but its address makes an active one for every event, with its secret", async () => {
    const application = await anApplication(relay);
    const answer = await create(application);
    expect(answer.status).toBe(201);
    const { secret, ...shown } = dataOf(answer);
    expect(shown).toEqual({
      id: expect.stringMatching(/^whk_/),
      applicationId: application.id,
      url: URL,
      description: null,
      events: ["*"],
      status: "active",
      disabledReason: null,
      secretHint: `${secret.slice(0, 10)}…`,
      lastSuccessAt: null,
      lastFailureAt: null,
      health: { state: "ok", failuresInARow: 0, failingSince: null, nextTryAt: null },
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    expect(Buffer.from(secret.slice("whsec_".length), "base64")).toHaveLength(32);
    expect(dataOf(await list(application))).toEqual([shown]);
  });

  test("shows its secret in no other answer, and stores it sealed", async () => {
    const application = await anApplication(relay);
    const { id, secret } = dataOf(await create(application));
    const texts = [
      await list(application),
      await patch(application, id, { description: "x" }),
      await relay.call("POST", `/v1/webhooks/${id}/test`, { key: application.key }),
      await relay.call("GET", `/v1/webhooks/${id}/deliveries`, { key: application.key }),
    ].map((answer) => JSON.stringify(answer));
    for (const text of texts) expect(text).not.toContain(secret);
    expect(relay.logLines.join("\n")).not.toContain(secret);
    const { platform } = application;
    const opened = await relay.services.webhooks.stores.endpoints.open(
      platform.id,
      id,
      relay.clock.now(),
    );
    expect(opened?.secrets).toEqual([secret]);
  });

  test("costs 5 tokens and is counted; every other call is free", async () => {
    const application = await anApplication(relay);
    const { key } = application;
    const before = await balanceOf(application);
    const { id } = dataOf(await create(application));
    expect(await balanceOf(application)).toBe(before - 5);
    await list(application);
    await relay.call("POST", `/v1/webhooks/${id}/rotate-secret`, { key });
    await relay.call("POST", `/v1/webhooks/${id}/test`, { key });
    expect(await balanceOf(application)).toBe(before - 5);
    expect(dataOf(await relay.call("GET", "/v1/me", { key })).counts.webhooks).toBe(1);
    const [entry] = dataOf(await relay.call("GET", "/v1/billing/usage", { key }));
    expect(entry).toMatchObject({ operation: "webhooks.create", tokens: -5, type: "debit" });
  });

  test("an endpoint that can't be paid for leaves nothing behind", async () => {
    const platform = await aPlatform(relay, { tokens: 4 });
    const application = await anApplication(relay, platform);
    expect(await create(application)).toMatchObject({
      status: 402,
      body: { error: { code: "insufficient_tokens", details: { required: 5, available: 4 } } },
    });
    expect(dataOf(await list(application))).toEqual([]);
  });

  test("registering an endpoint, and every change of it, is made once when storage's answer is lost", async () => {
    let losesAnswer = false;
    const faulted = await startRelay({
      settings,
      tableFault({ method, rowKeys }) {
        if (!losesAnswer || method === "GET" || !rowKeys.includes(HEAD_KEY)) return "pass";
        losesAnswer = false;
        return "lose_answer";
      },
    });
    const { key, platform } = await anApplication(faulted);
    const call = async (method: string, path: string, body?: object) => {
      losesAnswer = true;
      const answer = dataOf(
        await faulted.call(method, path, { key, ...(body !== undefined && { body }) }),
      );
      expect(losesAnswer).toBe(false);
      return answer;
    };
    const { balance } = await faulted.services.ledger.stores.ledger.readWallet(platform.id);
    const made = await call("POST", "/v1/webhooks", { url: URL });
    expect((await faulted.services.ledger.stores.ledger.readWallet(platform.id)).balance).toBe(
      balance - 5,
    );
    const path = `/v1/webhooks/${made.id}`;
    expect(await call("PATCH", path, { description: "changed" })).toMatchObject({
      description: "changed",
    });
    const rotated = await call("POST", `${path}/rotate-secret`);
    const now = faulted.clock.now();
    const opened = await faulted.services.webhooks.stores.endpoints.open(platform.id, made.id, now);
    expect(opened?.secrets).toEqual([rotated.secret, made.secret]);
    await call("DELETE", path);
    const { counts } = dataOf(await faulted.call("GET", "/v1/me", { key }));
    expect(counts.webhooks).toBe(0);
    await faulted.stop();
  });

  test("twice for the last tokens at once makes and charges one", async () => {
    const platform = await aPlatform(relay, { tokens: 8 });
    const application = await anApplication(relay, platform);
    const answers = await Promise.all([1, 2, 3, 4].map(() => create(application)));
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual([
      "201",
      "402",
      "402",
      "402",
    ]);
    expect(dataOf(await list(application))).toHaveLength(1);
    expect(await balanceOf(application)).toBe(3);
  });

  test("registering an endpoint is possible 20 times, however many come at once, and again after one is deleted", async () => {
    const application = await anApplication(relay);
    const before = await balanceOf(application);
    const answers = await Promise.all(Array.from({ length: 26 }, () => create(application)));
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(20);
    for (const { status, body } of answers)
      if (status !== 201) expect([status, body.error.code]).toEqual([409, "limit_reached"]);
    expect(dataOf(await list(application, "?limit=100"))).toHaveLength(20);
    expect(await balanceOf(application)).toBe(before - 100);
    const id = made[0]?.body.data.id;
    const { key } = application;
    expect(dataOf(await relay.call("DELETE", `/v1/webhooks/${id}`, { key }))).toMatchObject({ id });
    expect((await create(application)).status).toBe(201);
    expect((await create(application)).status).toBe(409);
    const sibling = await anApplication(relay, application.platform);
    expect((await create(sibling)).status).toBe(201);
  });

  test.each([
    ["http://hooks.example.com/", HTTPS_ONLY],
    ["ftp://hooks.example.com/", "must be an https URL"],
    ["hooks.example.com", "must be an https URL"],
    ["https://user:secret@hooks.example.com/", CREDENTIALS],
    ["https://user@hooks.example.com/", CREDENTIALS],
    ["https://@hooks.example.com/", CREDENTIALS],
    ["https://hooks.example.com:22/", "must use port 443, or one from 1024 on that browsers allow"],
    [
      "https://hooks.example.com:6000/",
      "must use port 443, or one from 1024 on that browsers allow",
    ],
    ["https://127.0.0.1/", "must lead to a public address"],
    ["https://2130706433/", MISREAD_HOST],
    ["https://0x7f.1/", MISREAD_HOST],
    [
      "https://receiver.example.org/a\nb",
      "must not contain line breaks, tabs or other control characters",
    ],
    [
      "https://receiver.example.org\t/a",
      "must not contain line breaks, tabs or other control characters",
    ],
    ["https:/receiver.example.org/a", "must have two slashes and then its host name"],
    ["https:\\\\receiver.example.org\\a", "must not contain a backslash: write a slash, or %5C"],
    ["https://receiver.invalid/", IMPOSSIBLE],
    ["https://receiver.example/", IMPOSSIBLE],
    [`https://${"a".repeat(64)}.example.org/`, IMPOSSIBLE],
    ["https://receiver..example.org/", IMPOSSIBLE],
    ["https://[::1]/", "must lead to a public address"],
    ["https://[::ffff:10.0.0.1]/", "must lead to a public address"],
    ["https://169.254.169.254/latest/meta-data", "must lead to a public address"],
    ["https://168.63.129.16/", "must lead to a public address"],
    ["https://localhost/", "must lead to a public host name"],
    ["https://localhost./", "must lead to a public host name"],
    ["https://printer.local/", "must lead to a public host name"],
    ["https://metadata.google.internal/", "must lead to a public host name"],
    ["https://intranet/", "must lead to a public host name"],
    ["https://hooks.example.com/#part", "must not have a fragment (#…): no server gets to see it"],
  ])("registering an endpoint at %s is refused with the reason", async (url, reason) => {
    const application = await anApplication(relay);
    const answer = await create(application, { url });
    expect(answer).toMatchObject({ status: 400, body: { error: { code: "validation_failed" } } });
    const issue = { path: "url", message: `"url" ${reason}.` };
    expect(issuesOf(answer)).toMatchObject([issue]);
    const endpoint = dataOf(await create(application));
    expect(issuesOf(await patch(application, endpoint.id, { url }))).toMatchObject([issue]);
  });

  test("keeps the address in its normal form, with its query and a high port", async () => {
    const application = await anApplication(relay);
    const url = "HTTPS://Hooks.Example.COM:8443/a b?x=1";
    expect(dataOf(await create(application, { url })).url).toBe(
      "https://hooks.example.com:8443/a%20b?x=1",
    );
  });

  test.each([
    ["no address", {}, "url"],
    ["an empty one", { url: "" }, "url"],
    ["one that is too long", { url: `${URL}/${"x".repeat(2_048)}` }, "url"],
    ["no events", { url: URL, events: [] }, "events"],
    ["an event that there is not", { url: URL, events: ["post.created"] }, "events.0"],
    ["an event twice", { url: URL, events: ["*", "*"] }, "events"],
    ["a long description", { url: URL, description: "x".repeat(501) }, "description"],
    ["a secret of its own", { url: URL, secret: "whsec_mine" }, "secret"],
  ])("registering an endpoint with %s is refused", async (_, body, path) => {
    const answer = await create(await anApplication(relay), body);
    expect(answer.status).toBe(400);
    expect(issuesOf(answer).map((issue) => issue.path)).toContain(path);
  });

  test("registering an endpoint by a session names the application; by a restricted key it is refused", async () => {
    const application = await anApplication(relay);
    const { session } = application.platform;
    const body = { url: URL, events: [...EVENT_TYPES] };
    const headers = { "x-application-id": application.id };
    expect(await relay.call("POST", "/v1/webhooks", { session, body })).toMatchObject({
      status: 400,
      body: { error: { code: "application_header_required" } },
    });
    const made = await relay.call("POST", "/v1/webhooks", { session, headers, body });
    expect(dataOf(made)).toMatchObject({ applicationId: application.id, events: EVENT_TYPES });
    const restricted = await aKey(relay, application, { scope: "restricted" });
    expect(await create({ key: restricted.secret })).toMatchObject({
      status: 403,
      body: { error: { code: "app_admin_required" } },
    });
  });
});

describe("the list", () => {
  test("the list of endpoints is the application's for its key, and the platform's for a session that names none", async () => {
    const platform = await aPlatform(relay);
    const [one, two] = [await anApplication(relay, platform), await anApplication(relay, platform)];
    const first = dataOf(await create(one)).id;
    const second = dataOf(await create(two)).id;
    const idsOf = (listed: { id: string }[]) => listed.map(({ id }) => id);
    expect(idsOf(dataOf(await list(one)))).toEqual([first]);
    const { session } = platform;
    const all = await relay.call("GET", "/v1/webhooks", { session });
    expect(idsOf(dataOf(all))).toEqual([second, first]);
    const headers = { "x-application-id": two.id };
    const named = await relay.call("GET", "/v1/webhooks", { session, headers });
    expect(idsOf(dataOf(named))).toEqual([second]);
  });

  test("comes page after page, newest first, and its cursor is for this list alone", async () => {
    const application = await anApplication(relay);
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) ids.unshift(dataOf(await create(application)).id);
    const seen: string[] = [];
    let cursor = "";
    do {
      const { body } = await list(application, `?limit=2${cursor}`);
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      cursor = body.page.nextCursor === null ? "" : `&cursor=${body.page.nextCursor}`;
    } while (cursor !== "");
    expect(seen).toEqual(ids);
    const { body } = await list(application, "?limit=2");
    const other = await anApplication(relay);
    expect(await list(other, `?cursor=${body.page.nextCursor}`)).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_cursor" } },
    });
  });
});

describe("a change", () => {
  test("changes what it names and nothing else", async () => {
    const application = await anApplication(relay);
    const { secret: _, ...before } = dataOf(await create(application));
    const changed = dataOf(
      await patch(application, before.id, { description: "Orders", events: ["post.failed"] }),
    );
    expect(changed).toEqual({
      ...before,
      description: "Orders",
      events: ["post.failed"],
      updatedAt: expect.any(String),
    });
    const cleared = dataOf(await patch(application, before.id, { description: null }));
    expect(cleared).toMatchObject({ description: null, events: ["post.failed"], url: URL });
    expect(dataOf(await list(application))).toEqual([cleared]);
  });

  test("disables with a reason, again without effect, and makes active again", async () => {
    const application = await anApplication(relay);
    const { id } = dataOf(await create(application));
    const disabled = { status: "disabled", disabledReason: "Disabled through the API." };
    expect(dataOf(await patch(application, id, { status: "disabled" }))).toMatchObject(disabled);
    expect(dataOf(await patch(application, id, { status: "disabled" }))).toMatchObject(disabled);
    const { key } = application;
    expect(await relay.call("POST", `/v1/webhooks/${id}/test`, { key })).toMatchObject({
      status: 409,
      body: { error: { code: "invalid_state", details: { status: "disabled" } } },
    });
    expect(dataOf(await patch(application, id, { status: "active" }))).toMatchObject({
      status: "active",
      disabledReason: null,
    });
  });

  test("a change does not bring back what the service disabled, nor hide why, unless it says so", async () => {
    const application = await anApplication(relay);
    const { id } = dataOf(await create(application));
    const { platform } = application;
    const at = relay.clock.now().toISOString();
    const { webhooks, background } = relay.services;
    const why = { disabledReason: "Gone.", at };
    const found = await webhooks.stores.endpoints.findToDisable(platform.id, id, why);
    if (found !== undefined) await background.mail.stores.notices.write(platform.id, [found.write]);
    const kept = { status: "disabled", disabledReason: "Gone." };
    expect(dataOf(await patch(application, id, { description: "x" }))).toMatchObject(kept);
    expect(dataOf(await patch(application, id, { status: "disabled" }))).toMatchObject(kept);
  });

  test("a change, a rotation and a deletion of another application's endpoint find nothing", async () => {
    const application = await anApplication(relay);
    const sibling = await anApplication(relay, application.platform);
    const { id } = dataOf(await create(application));
    const { key } = sibling;
    const call = (method: string, path: string, body?: object) =>
      relay.call(method, `/v1/webhooks/${id}${path}`, { key, body });
    for (const answer of [
      await call("PATCH", "", { description: "mine" }),
      await call("DELETE", ""),
      await call("POST", "/rotate-secret"),
      await call("POST", "/test"),
      await call("GET", "/deliveries"),
    ])
      expect(answer).toMatchObject({ status: 404, body: { error: { code: "not_found" } } });
    expect(dataOf(await list(application))).toMatchObject([{ id, description: null }]);
  });
});

test("a deleted endpoint is gone for every call", async () => {
  const application = await anApplication(relay);
  const { id } = dataOf(await create(application));
  const { key } = application;
  expect((await relay.call("DELETE", `/v1/webhooks/${id}`, { key })).status).toBe(200);
  expect((await relay.call("DELETE", `/v1/webhooks/${id}`, { key })).status).toBe(404);
  expect((await patch(application, id, { description: "x" })).status).toBe(404);
  expect(dataOf(await list(application))).toEqual([]);
});

describe("the deliveries of an endpoint", () => {
  test("the deliveries of an endpoint are listed newest first, page after page, by status and event", async () => {
    const application = await anApplication(relay);
    const { id } = dataOf(await create(application));
    const { key } = application;
    for (const type of ["connection.linked", "connection.removed", "connection.linked"] as const)
      await happen(relay, application, type);
    relay.queues.onSend = (message) => ("endpointId" in message ? "lose" : "keep");
    await relay.drain();
    relay.queues.onSend = () => "keep";
    const path = `/v1/webhooks/${id}/deliveries`;
    const read = (query: string) => relay.call("GET", `${path}?${query}`, { key });
    const typesOf = async (query: string) =>
      dataOf(await read(query)).map(({ eventType }: { eventType: string }) => eventType);
    expect(await typesOf("limit=100")).toEqual([
      "connection.linked",
      "connection.removed",
      "connection.linked",
    ]);
    expect(await typesOf("eventType=connection.removed")).toEqual(["connection.removed"]);
    expect(await typesOf("status=pending")).toHaveLength(3);
    expect(await typesOf("status=dead")).toEqual([]);
    const first = await read("limit=2");
    const second = await read(`limit=2&cursor=${first.body.page.nextCursor}`);
    expect([...first.body.data, ...second.body.data]).toEqual(dataOf(await read("limit=100")));
    for (const query of ["status=lost", "eventType=post", "limit=0", "limit=101", "since=2026"])
      expect((await read(query)).status).toBe(400);
  });
});

describe("the list of events", () => {
  const events = ({ key }: Pick<TestApplication, "key">, query = "") =>
    relay.call("GET", `/v1/events${query}`, { key });

  test("the list of events is the application's, oldest first, and goes on after the last one read", async () => {
    const platform = await aPlatform(relay);
    const application = await anApplication(relay, platform);
    const sibling = await anApplication(relay, platform);
    for (let index = 0; index < 5; index += 1) {
      await happen(relay, application, "connection.linked", { index });
      await happen(relay, sibling, "connection.removed");
      // Some are fanned out, some still wait: the list does not care.
      if (index === 2) await relay.drain();
    }
    relay.advance(16_000);
    const indexes = (answer: { body: { data: { data: { index: number } }[] } }) =>
      answer.body.data.map(({ data }) => data.index);
    const all = await events(application);
    expect(indexes(all)).toEqual([0, 1, 2, 3, 4]);
    expect(all.body.page).toMatchObject({ nextCursor: null, hasMore: false });
    expect(all.body.data[0]).toMatchObject({
      type: "connection.linked",
      apiVersion: "v1",
      applicationId: application.id,
    });
    const after = `?after=${all.body.data[1].id}`;
    expect(indexes(await events(application, after))).toEqual([2, 3, 4]);
    const page = await events(application, `${after}&limit=2`);
    expect(indexes(page)).toEqual([2, 3]);
    const next = await events(application, `${after}&limit=2&cursor=${page.body.page.nextCursor}`);
    expect(indexes(next)).toEqual([4]);
    await relay.drain();
    expect((await events(application)).body.data).toEqual(all.body.data);
  });

  test("takes any event's id as a place in time, and nothing else", async () => {
    const application = await anApplication(relay);
    await happen(relay, application);
    relay.advance(16_000);
    const oldest = `evt_${"0".repeat(26)}`;
    expect(dataOf(await events(application, `?after=${oldest}`))).toHaveLength(1);
    const latest = `evt_7${"Z".repeat(25)}`;
    expect(dataOf(await events(application, `?after=${latest}`))).toEqual([]);
    for (const query of ["?after=", "?after=evt_1", "?after=pst_x", "?limit=0", "?cursor=x"])
      expect((await events(application, query)).status).toBe(400);
  });

  test("holds what is younger than 15 seconds back, and ends after 30 days", async () => {
    const application = await anApplication(relay);
    await happen(relay, application);
    expect(dataOf(await events(application))).toEqual([]);
    relay.advance(15_100);
    expect(dataOf(await events(application))).toHaveLength(1);
    await relay.drain();
    relay.advance(30 * 24 * 60 * 60_000);
    expect(dataOf(await events(application))).toEqual([]);
  });

  test("the list of events is empty for a restricted key that has no profile", async () => {
    const application = await anApplication(relay);
    const { secret } = await aKey(relay, application, { scope: "restricted" });
    expect(dataOf(await events({ key: secret }))).toEqual([]);
  });
});

describe("the operators' redrive", () => {
  const redrive = (body: object | undefined, roles: readonly string[] = ["Admin"]) =>
    relay.call("POST", "/v1/admin/webhooks/redrive-dead", {
      operator: roles,
      ...(body === undefined ? {} : { body }),
    });

  test("needs no body, and answers counts", async () => {
    expect(await redrive(undefined)).toMatchObject({
      status: 200,
      body: { data: { scanned: 0, requeued: 0, skipped: 0, nextCursor: null } },
    });
  });

  test.each([
    ["platformId", { platformId: "plt_1" }],
    ["webhookId", { webhookId: "pst_1" }],
    ["since", { since: "yesterday" }],
    ["since", { since: "2026-03-04T00:00:00" }],
    ["cursor", { cursor: 7 }],
    ["status", { status: "dead" }],
  ])("refuses a wrong %s", async (path, body) => {
    const answer = await redrive(body);
    expect(answer.status).toBe(400);
    expect(issuesOf(answer).map((issue) => issue.path)).toContain(path);
  });
});
