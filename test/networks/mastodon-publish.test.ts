import { describe, expect, test } from "vitest";
import { mastodon } from "../../src/shared/networks/mastodon/index.ts";
import type { HttpFailure } from "../../src/shared/runtime/http-call.ts";
import type { LegDraft } from "../../src/shared/networks/contract/draft.ts";
import type { LegToPublish } from "../../src/shared/networks/contract/network.ts";
import { files } from "./legs.ts";
import {
  type Script,
  NOW,
  answer,
  htmlPage,
  lost,
  refusedToConnect,
  scriptedTools,
  sentJson,
} from "./scripted-tools.ts";
import { FILE, LOOK, ORIGIN, begun, credentials, leg, uploaded } from "./mastodon-script.ts";

const POST = `POST ${ORIGIN}/api/v1/statuses`;
const LIST = `GET ${ORIGIN}/api/v1/accounts/42/statuses`;
const minutes = (count: number) => new Date(NOW.getTime() - count * 60_000);
const published = { kind: "published", networkPostId: "7", url: `${ORIGIN}/@alice/7` };
const status = { id: "7", url: `${ORIGIN}/@alice/7`, uri: `${ORIGIN}/users/alice/statuses/7` };

describe("publishing to Mastodon", () => {
  const publish = (http: NonNullable<Script["http"]>, overrides: Partial<LegToPublish> = {}) =>
    mastodon.publish(leg({}, { sentAt: NOW, ...overrides }), scriptedTools({ http }));

  test("sends the same request under the same key each time", async () => {
    const tools = scriptedTools({ http: { [POST]: answer(200, status) } });
    const options = {
      visibility: "unlisted",
      spoilerText: "cw",
      sensitive: true,
      language: "en",
    };
    const ready = leg({ options }, { remote: uploaded("1"), sentAt: NOW });
    expect(await mastodon.publish(ready, tools)).toEqual(published);
    expect(await mastodon.publish(ready, tools)).toEqual(published);
    expect(tools.calls[0]).toEqual(tools.calls[1]);
    expect(sentJson(tools.calls[0])).toEqual({
      status: "Hello",
      media_ids: ["1"],
      visibility: "unlisted",
      spoiler_text: "cw",
      sensitive: true,
      language: "en",
    });
    expect(tools.calls[0]?.headers).toMatchObject({
      authorization: "Bearer token",
      "idempotency-key": begun["idempotencyKey"],
    });
    expect(mastodon.begin({ key: "leg-1" })).toEqual(begun);
    expect(mastodon.begin({ key: "leg-2" })["idempotencyKey"]).not.toBe(begun["idempotencyKey"]);
  });

  test("leaves visibility to the account's own default", async () => {
    const tools = scriptedTools({
      http: { [POST]: answer(200, { id: 7, uri: "https://m.example/7" }) },
    });
    expect(await mastodon.publish(leg(), tools)).toEqual({
      ...published,
      url: "https://m.example/7",
    });
    expect(sentJson(tools.calls[0])).toEqual({ status: "Hello" });
  });

  test.each([
    ["a lost answer", lost],
    ["a 500", answer(500, { error: "oops" })],
    [
      "a 500 of a thumbnail",
      answer(500, { error: "Error processing thumbnail for uploaded media" }),
    ],
    ["a 502 of a proxy", htmlPage(502)],
    ["a 403 of a firewall", htmlPage(403)],
    ["a 200 that is none", answer(200, "ok")],
  ])("is in doubt after %s", async (_what, reply) => {
    expect(await publish({ [POST]: reply })).toMatchObject({
      kind: "in_doubt",
      failure: { code: "outcome_unknown" },
    });
  });

  test.each([
    [refusedToConnect, "try_later", "network_unavailable"],
    [answer(429, { error: "Too many requests" }), "try_later", "rate_limited"],
    [answer(401, { error: "The access token is invalid" }), "rejected", "connection_needs_reauth"],
    [answer(403, { error: "Your login is currently disabled" }), "rejected", "account_restricted"],
    [answer(422, { error: "Validation failed: Text can't be blank" }), "rejected", "text_invalid"],
    [answer(422, ""), "rejected", "invalid_request"],
  ])("certainly did not happen (%#)", async (reply, kind, code) => {
    expect(await publish({ [POST]: reply })).toMatchObject({ kind, failure: { code } });
  });

  test("waits for files that are not ready after all", async () => {
    const reply = answer(422, {
      error: "Cannot attach files that have not finished processing. Try again in a moment!",
    });
    expect(await publish({ [POST]: reply }, { remote: uploaded("1") })).toMatchObject({
      kind: "prepare_again",
      remote: { ...begun, media: [{ id: "1", isReady: false }] },
      failure: { code: "media_not_ready" },
    });
  });

  describe("when files are gone or taken", () => {
    const gone = answer(422, { error: "Media 1 not found or already attached to another post" });
    const run = (
      list: ReturnType<typeof answer> | HttpFailure,
      draft: Partial<LegDraft>,
      sentAt: Date,
    ) =>
      mastodon.publish(
        leg({ media: files(FILE), ...draft }, { remote: uploaded("1"), sentAt }),
        scriptedTools({ http: { [POST]: gone, [LIST]: list } }),
      );

    test("finds the post that has them", async () => {
      const list = answer(200, [
        { ...status, created_at: NOW.toISOString(), content: "", media_attachments: [{ id: "1" }] },
      ]);
      expect(await run(list, {}, minutes(120))).toEqual(published);
    });

    test("uploads anew when no post has them", async () => {
      const empty = answer(200, []);
      const expected = { kind: "prepare_again", remote: begun };
      expect(await run(empty, {}, minutes(1))).toMatchObject(expected);
      expect(await run(empty, { options: { visibility: "public" } }, minutes(120))).toMatchObject(
        expected,
      );
    });

    test("stays in doubt when the list would not show the post", async () => {
      expect(await run(answer(200, []), {}, minutes(120))).toMatchObject({ kind: "in_doubt" });
      expect(await run(answer(401, {}), {}, NOW)).toMatchObject({ kind: "in_doubt" });
      expect(await run(lost, {}, NOW)).toMatchObject({ kind: "in_doubt" });
    });
  });
});

describe("an unknown outcome at Mastodon", () => {
  const reconcile = (
    http: NonNullable<Script["http"]>,
    overrides: Partial<LegToPublish> = {},
    draft: Partial<LegDraft> = {},
  ) =>
    mastodon.reconcile(
      leg({ text: "Hi @bob@b.example, see & say", ...draft }, { sentAt: NOW, ...overrides }),
      scriptedTools({ http }),
    );
  const listed = (overrides: Record<string, unknown> = {}) => ({
    ...status,
    created_at: NOW.toISOString(),
    content: '<p>Hi <span><a href="x">@<span>bob</span></a></span>, see &amp; say</p>',
    spoiler_text: "",
    media_attachments: [],
    ...overrides,
  });

  test("is nothing when nothing was sent", async () => {
    expect(await reconcile({}, { sentAt: null })).toMatchObject({ kind: "may_publish" });
  });

  test.each([minutes(1), minutes(120)])(
    "is the post with the same words (sent %s)",
    async (sentAt) => {
      const list = answer(200, [listed({ id: "8", content: "<p>Other</p>" }), listed()]);
      expect(await reconcile({ [LIST]: list }, { sentAt })).toEqual(published);
    },
  );

  test.each([
    ["other words", listed({ content: "<p>Something else</p>" })],
    ["an older post", listed({ created_at: minutes(10).toISOString() })],
    ["another content warning", listed({ spoiler_text: "cw" })],
  ])("is not %s", async (_what, found) => {
    expect(await reconcile({ [LIST]: answer(200, [found]) })).toMatchObject({
      kind: "may_publish",
    });
  });

  test("is the post with the same files, whatever its words", async () => {
    const list = answer(200, [
      listed(),
      listed({ id: "9", content: "", media_attachments: [{ id: "1" }] }),
    ]);
    const outcome = await reconcile(
      { [LIST]: list },
      { remote: uploaded("1") },
      { media: files(FILE) },
    );
    expect(outcome).toMatchObject({ kind: "published", networkPostId: "9" });
  });

  test("waits out an attempt on its way where no key would tell a repeat from it", async () => {
    const without = { ...credentials, keepsKeys: false };
    const http = { [LIST]: answer(200, []) };
    const at = (seconds: number) => new Date(NOW.getTime() - seconds * 1000);
    const early = await reconcile(http, { credentials: without, sentAt: at(29) });
    expect(early).toMatchObject({ kind: "ask_again", pollAfterSeconds: 30 });
    const late = await reconcile(http, { credentials: without, sentAt: at(30) });
    expect(late).toMatchObject({ kind: "may_publish" });
  });

  test("is never repeated without a key when the list can't be read", async () => {
    const without = { ...credentials, keepsKeys: false };
    const outcome = await reconcile(
      { [LIST]: answer(403, {}) },
      { credentials: without, sentAt: minutes(2) },
    );
    expect(outcome).toMatchObject({ kind: "unknowable" });
  });

  test("is looked for on later pages, but not for ever", async () => {
    const page = (from: number) =>
      answer(
        200,
        Array.from({ length: 20 }, (_, index) =>
          listed({ id: String(from - index), content: "x" }),
        ),
      );
    const found = await reconcile({ [LIST]: [page(99), answer(200, [listed()])] });
    expect(found).toEqual(published);
    const tools = scriptedTools({ http: { [LIST]: page(99) } });
    await mastodon.reconcile(leg({}, { sentAt: NOW }), tools);
    expect(tools.calls).toHaveLength(3);
    expect(tools.calls[1]?.url).toContain("max_id=80");
  });

  test("is read as a stranger where the token may not read", async () => {
    const tools = scriptedTools({
      http: {
        [LIST]: [
          answer(403, { error: "This action is outside the authorized scopes" }),
          answer(200, [listed({ content: "<p>Hello</p>" })]),
        ],
      },
    });
    expect(await mastodon.reconcile(leg({}, { sentAt: NOW }), tools)).toEqual(published);
    expect(tools.calls[0]?.headers?.["authorization"]).toBe("Bearer token");
    expect(tools.calls[1]?.headers?.["authorization"]).toBeUndefined();
  });

  test.each([
    ["of words alone", {}, {}],
    ["of words that cannot be read", { [LIST]: answer(401, {}) }, {}],
  ])("%s may be repeated only while the key is remembered", async (_what, http, draft) => {
    const script = { [LIST]: answer(200, []), ...http };
    expect(await reconcile(script, { sentAt: minutes(49) }, draft)).toEqual({
      kind: "may_publish",
      isAbsent: false,
    });
    expect(await reconcile(script, { sentAt: minutes(51) }, draft)).toMatchObject({
      kind: "unknowable",
      failure: { code: "outcome_unknown" },
    });
  });

  test.each<[string, LegDraft["options"], ReturnType<typeof answer> | HttpFailure, string]>([
    ["a listed post is absent", { visibility: "public" }, answer(500), "may_publish"],
    ["the file is free", {}, answer(200, { id: "1" }), "may_publish"],
    ["the file is in work", {}, answer(206, { id: "1" }), "may_publish"],
    ["the file failed", {}, answer(422, { error: "failed" }), "may_publish"],
    ["the file is taken or gone", {}, answer(404, { error: "Record not found" }), "unknowable"],
    ["the file may not be read", {}, answer(401, {}), "unknowable"],
    ["the server does not say", {}, answer(503, {}), "ask_again"],
    ["the server is away", {}, lost, "ask_again"],
  ])("of files, late: %s", async (_what, options, look, kind) => {
    const outcome = await reconcile(
      { [LIST]: answer(200, []), [LOOK("1")]: look },
      { sentAt: minutes(120), remote: uploaded("1") },
      { media: files(FILE), options },
    );
    expect(outcome.kind).toBe(kind);
  });

  test.each([
    lost,
    refusedToConnect,
    htmlPage(502),
    answer(500, { error: "oops" }),
    answer(200, "ok"),
    answer(429, { error: "Too many requests" }, { "retry-after": "7" }),
  ])("is asked again when the server does not say (%#)", async (reply) => {
    expect(await reconcile({ [LIST]: reply })).toMatchObject({
      kind: "ask_again",
      failure: { code: "outcome_unknown" },
    });
  });
});
