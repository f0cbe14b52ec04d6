import { describe, expect, test } from "vitest";
import { mastodon } from "../../src/shared/networks/mastodon/index.ts";
import type { HttpFailure } from "../../src/shared/runtime/http-call.ts";
import type { LegDraft } from "../../src/shared/networks/contract/draft.ts";
import { postTraits } from "../../src/shared/networks/mastodon/servers.ts";
import type { LegToPublish } from "../../src/shared/networks/contract/visible-call.ts";
import { files } from "./legs.ts";
import {
  type Script,
  NOW,
  answer,
  htmlPage,
  lost,
  scriptedTools,
  sentJson,
} from "./scripted-tools.ts";
import { FILE, LOOK, ORIGIN, begun, credentials, leg, uploaded } from "./mastodon-script.ts";

const POST = `POST ${ORIGIN}/api/v1/statuses`;
const LIST = `GET ${ORIGIN}/api/v1/accounts/42/statuses`;
const minutes = (count: number) => new Date(NOW.getTime() - count * 60_000);
const published = { kind: "done", externalId: "7", url: `${ORIGIN}/@alice/7` };
const status = { id: "7", url: `${ORIGIN}/@alice/7`, uri: `${ORIGIN}/users/alice/statuses/7` };

describe("publishing to Mastodon", () => {
  const publish = (http: NonNullable<Script["http"]>, overrides: Partial<LegToPublish> = {}) =>
    mastodon.calls.publish.perform(leg({}, { sentAt: NOW, ...overrides }), scriptedTools({ http }));

  test("sends the same request under the same key each time", async () => {
    const tools = scriptedTools({ http: { [POST]: answer(200, status) } });
    const options = {
      visibility: "unlisted",
      spoilerText: "cw",
      sensitive: true,
      language: "en",
    };
    const ready = leg({ options }, { remote: uploaded("1"), sentAt: NOW });
    expect(await mastodon.calls.publish.perform(ready, tools)).toEqual(published);
    expect(await mastodon.calls.publish.perform(ready, tools)).toEqual(published);
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

  test("ends at once when a server's checks refuse a field of the form, with whatever status", async () => {
    const message = "The selected visibility is invalid.";
    const body = { message, errors: { visibility: [message] } };
    expect(await publish({ [POST]: answer(500, body) })).toMatchObject({
      kind: "rejected",
      isProof: true,
      failure: { code: "feature_unsupported", networkCode: "HTTP 500" },
    });
    expect(await publish({ [POST]: answer(500, { message: "Server Error" }) })).toMatchObject({
      kind: "unknown",
    });
    const needed = { loc: ["details", "status"], msg: "field required" };
    const picture = { [POST]: answer(400, { error: "invalid_input", error_details: [needed] }) };
    expect(await publish(picture, { remote: uploaded("1") })).toMatchObject({
      kind: "rejected",
      failure: { code: "text_invalid", rule: "mastodon.text.required" },
    });
  });

  test("warns of a post that the server made without its files, or with another visibility", async () => {
    const publishing = leg(
      { options: { visibility: "private" } },
      { remote: uploaded("1"), sentAt: NOW },
    );
    const made = async (more: object) => {
      const http = { [POST]: answer(200, { ...status, ...more }) };
      const outcome = await mastodon.calls.publish.perform(publishing, scriptedTools({ http }));
      if (outcome.kind !== "done") throw new Error("not published");
      return outcome.differences?.map(({ rule }) => rule);
    };
    expect(await made({ media_attachments: [] })).toEqual(["mastodon.media.missing"]);
    expect(await made({ visibility: "public" })).toEqual(["mastodon.visibility.changed"]);
    expect(await made({ media_attachments: [{ id: "1" }], visibility: "private" })).toBeUndefined();
    expect(await made({})).toBeUndefined();
  });

  test("does not doubt a post that a challenge kept from the server", async () => {
    const page = "<!doctype html><title>Just a moment...</title>";
    const challenge = answer(403, page, {
      "content-type": "text/html",
      "cf-mitigated": "challenge",
    });
    expect(await publish({ [POST]: challenge })).toMatchObject({
      kind: "try_later",
      isProof: true,
      failure: { code: "network_unavailable", rule: "mastodon.server.challenge" },
    });
  });

  test("tells that a firewall refuses this post", async () => {
    const page = "<!doctype html><title>Forbidden</title>Sorry, you have been blocked";
    const blocked = answer(403, page, { "content-type": "text/html" });
    expect(await publish({ [POST]: blocked })).toMatchObject({
      kind: "rejected",
      failure: { code: "network_unavailable", rule: "mastodon.server.blocked" },
    });
  });

  test("tells that a server takes no post without a text", async () => {
    const refusal = answer(422, { message: "Validation failed: Text can't be blank" });
    expect(await publish({ [POST]: refusal }, { remote: uploaded("1") })).toMatchObject({
      kind: "rejected",
      failure: { code: "text_invalid", rule: "mastodon.text.required" },
    });
    const rules = (limits: object) =>
      mastodon
        .check({ text: "", media: files(FILE), options: {} }, { ...limits })
        .map(({ rule }) => rule);
    expect(rules(postTraits("wordpress"))).toContain("mastodon.text.required");
    expect(rules(postTraits("mastodon"))).not.toContain("mastodon.text.required");
  });

  // A key that was refused once is refused again there, whatever the post.
  test.each([
    ["mastodon", true],
    ["a server that nobody knows", true],
    ["gotosocial", true],
    ["pleroma", false],
    ["akkoma", false],
    ["pixelfed", false],
    ["iceshrimp.net", false],
  ])("sends a key to %s: %s", async (software, isSent) => {
    const tools = scriptedTools({ http: { [POST]: answer(200, status) } });
    const at = leg({}, { sentAt: NOW, credentials: { ...credentials, software } });
    expect(await mastodon.calls.publish.perform(at, tools)).toEqual(published);
    expect(Object.hasOwn(tools.calls[0]?.headers ?? {}, "idempotency-key")).toBe(isSent);
  });

  test("leaves visibility to the account's own default", async () => {
    const tools = scriptedTools({
      http: { [POST]: answer(200, { id: 7, uri: "https://m.example/7" }) },
    });
    expect(await mastodon.calls.publish.perform(leg(), tools)).toEqual({
      ...published,
      url: "https://m.example/7",
    });
    expect(sentJson(tools.calls[0])).toEqual({ status: "Hello" });
  });

  test.each([
    [
      "a 500 of a thumbnail",
      answer(500, { error: "Error processing thumbnail for uploaded media" }),
    ],
    ["a 403 of a firewall", htmlPage(403)],
    ["a 200 that is none", answer(200, "ok")],
  ])("publishing to Mastodon is in doubt after %s", async (_what, reply) => {
    expect(await publish({ [POST]: reply })).toMatchObject({
      kind: "unknown",
      failure: { code: "outcome_unknown" },
    });
  });

  test.each([
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
      mastodon.calls.publish.perform(
        leg({ media: files(FILE), ...draft }, { remote: uploaded("1"), sentAt }),
        scriptedTools({ http: { [POST]: gone, [LIST]: list } }),
      );

    test("finds the post that has them", async () => {
      const list = answer(200, [
        { ...status, created_at: NOW.toISOString(), content: "", media_attachments: [{ id: "1" }] },
      ]);
      expect(await run(list, {}, minutes(120))).toEqual(published);
    });

    test("uploads again when no post has them", async () => {
      const empty = answer(200, []);
      const expected = { kind: "prepare_again", remote: begun };
      expect(await run(empty, {}, minutes(1))).toMatchObject(expected);
      const created_at = minutes(200).toISOString();
      const other = answer(200, [{ ...status, created_at, content: "x", visibility: "public" }]);
      const options = { visibility: "public" };
      expect(await run(other, { options }, minutes(120))).toMatchObject(expected);
    });

    test("stays in doubt when the list would not show the post", async () => {
      expect(await run(answer(200, []), {}, minutes(120))).toMatchObject({ kind: "unknown" });
      expect(await run(answer(401, {}), {}, NOW)).toMatchObject({ kind: "unknown" });
      expect(await run(lost, {}, NOW)).toMatchObject({ kind: "unknown" });
    });
  });
});

describe("an unknown outcome at Mastodon", () => {
  const lookUp = (
    http: NonNullable<Script["http"]>,
    overrides: Partial<LegToPublish> = {},
    draft: Partial<LegDraft> = {},
  ) =>
    mastodon.calls.publish.find(
      leg({ text: "Hi @bob@b.example, see & say", ...draft }, { sentAt: minutes(1), ...overrides }),
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

  test("an unknown outcome at Mastodon is nothing when nothing was sent", async () => {
    expect(await lookUp({}, { sentAt: null })).toEqual({ kind: "absent" });
  });

  test.each([minutes(1), minutes(120)])(
    "the outcome is the post with the same words (sent %s)",
    async (sentAt) => {
      const list = answer(200, [listed({ id: "8", content: "<p>Other</p>" }), listed()]);
      expect(await lookUp({ [LIST]: list }, { sentAt })).toEqual(published);
    },
  );

  test.each([
    ["other words", listed({ content: "<p>Something else</p>" })],
    ["an older post", listed({ created_at: minutes(10).toISOString() })],
    ["another content warning", listed({ spoiler_text: "cw" })],
  ])("an unknown outcome at Mastodon is not %s", async (_what, found) => {
    expect(await lookUp({ [LIST]: answer(200, [found]) })).toEqual({ kind: "repeatable" });
  });

  test("an unknown outcome at Mastodon is the post with the same files, whatever its words", async () => {
    const list = answer(200, [
      listed(),
      listed({ id: "9", content: "", media_attachments: [{ id: "1" }] }),
    ]);
    const outcome = await lookUp(
      { [LIST]: list },
      { remote: uploaded("1") },
      { media: files(FILE) },
    );
    expect(outcome).toMatchObject({ kind: "done", externalId: "9" });
  });

  const { software: _, ...unasked } = credentials;

  test.each([
    ["a server that looks at keys without a lock", { ...credentials, software: "fedibird" }],
    ["an account of which the server's software is not noted", unasked],
  ])("waits out an attempt on its way: %s", async (_what, own) => {
    const http = { [LIST]: answer(200, []) };
    const at = (seconds: number) => new Date(NOW.getTime() - seconds * 1000);
    const noted = { credentials: own, remote: { ...begun, keepsKeys: true } };
    const early = await lookUp(http, { ...noted, sentAt: at(29) });
    expect(early).toMatchObject({ kind: "not_yet", pollAfterSeconds: 30 });
    const late = await lookUp(http, { ...noted, sentAt: at(30) });
    expect(late).toEqual({ kind: "repeatable" });
  });

  test.each(["mastodon", "hometown"])(
    "the outcome is asked under the same key while a lock is held: %s",
    async (software) => {
      // The list shows another post, but the attempt on its way may still make this one.
      const list = answer(200, [listed({ content: "<p>Other</p>", visibility: "public" })]);
      const own = { credentials: { ...credentials, software }, sentAt: NOW };
      const verify = `GET ${ORIGIN}/api/v1/accounts/verify_credentials`;
      const account = answer(200, { source: { privacy: "public" } });
      expect(await lookUp({ [LIST]: list, [verify]: account }, own)).toEqual({
        kind: "repeatable",
      });
    },
  );

  test("an unknown outcome at Mastodon is asked under the same key when the same words are from before the call", async () => {
    const earlier = listed({ created_at: new Date(minutes(1).getTime() - 20_000).toISOString() });
    expect(await lookUp({ [LIST]: answer(200, [earlier]) })).toEqual({
      kind: "repeatable",
    });
  });

  test("an unknown outcome at Mastodon is looked for on later pages, but not for ever", async () => {
    const page = (from: number) =>
      answer(
        200,
        Array.from({ length: 20 }, (_, index) =>
          listed({ id: String(from - index), content: "x" }),
        ),
      );
    const found = await lookUp({ [LIST]: [page(99), answer(200, [listed()])] });
    expect(found).toEqual(published);
    const tools = scriptedTools({ http: { [LIST]: page(99) } });
    await mastodon.calls.publish.find(leg({}, { sentAt: minutes(1) }), tools);
    expect(tools.calls).toHaveLength(3);
    expect(tools.calls[1]?.url).toContain("max_id=80");
  });

  test("an unknown outcome at Mastodon is read as a stranger where the token may not read", async () => {
    const tools = scriptedTools({
      http: {
        [LIST]: [
          answer(403, { error: "This action is outside the authorized scopes" }),
          answer(200, [listed({ content: "<p>Hello</p>" })]),
        ],
      },
    });
    expect(await mastodon.calls.publish.find(leg({}, { sentAt: NOW }), tools)).toEqual(published);
    expect(tools.calls[0]?.headers?.["authorization"]).toBe("Bearer token");
    expect(tools.calls[1]?.headers?.["authorization"]).toBeUndefined();
  });

  test.each([
    ["of words alone", {}, {}],
    ["of words that cannot be read", { [LIST]: answer(401, {}) }, {}],
  ])("%s may be repeated only while the key is remembered", async (_what, http, draft) => {
    const script = { [LIST]: answer(200, []), ...http };
    expect(await lookUp(script, { sentAt: minutes(49) }, draft)).toEqual({
      kind: "repeatable",
    });
    expect(await lookUp(script, { sentAt: minutes(51) }, draft)).toMatchObject({
      kind: "unknowable",
      failure: { code: "outcome_unknown" },
    });
  });

  test("an unknown outcome at Mastodon of files, late, is nothing when the list shows another post of the same visibility", async () => {
    const other = listed({ id: "5", visibility: "public", created_at: minutes(300).toISOString() });
    const options = { visibility: "public" };
    const late = { sentAt: minutes(120), remote: uploaded("1") };
    const http = { [LIST]: answer(200, [other]) };
    expect(await lookUp(http, late, { media: files(FILE), options })).toEqual({
      kind: "absent",
    });
  });

  test.each<[string, LegDraft["options"], ReturnType<typeof answer> | HttpFailure, string]>([
    ["the file is free", {}, answer(200, { id: "1" }), "absent"],
    ["the file is in work", {}, answer(206, { id: "1" }), "absent"],
    ["the file failed", {}, answer(422, { error: "failed" }), "absent"],
    ["the file is taken or gone", {}, answer(404, { error: "Record not found" }), "unknowable"],
    ["the file may not be read", {}, answer(401, {}), "unknowable"],
    ["the server does not say", {}, answer(503, {}), "not_yet"],
    ["the server is away", {}, lost, "not_yet"],
  ])("an unknown outcome at Mastodon of files, late: %s", async (_what, options, look, kind) => {
    const outcome = await lookUp(
      { [LIST]: answer(200, []), [LOOK("1")]: look },
      { sentAt: minutes(120), remote: uploaded("1") },
      { media: files(FILE), options },
    );
    expect(outcome.kind).toBe(kind);
  });

  test.each([
    answer(200, "ok"),
    answer(429, { error: "Too many requests" }, { "retry-after": "7" }),
  ])("the outcome is asked again when the server does not say (%#)", async (reply) => {
    expect(await lookUp({ [LIST]: reply })).toMatchObject({
      kind: "not_yet",
      failure: { code: "outcome_unknown" },
    });
  });
});

describe("an unknown outcome at a server without keys", () => {
  const elsewhere = { ...credentials, software: "another" };
  const before = { newestAt: minutes(60).toISOString(), ids: ["5"] };
  const noted = { ...begun, keepsKeys: false, before };
  const old = {
    ...status,
    id: "5",
    created_at: before.newestAt,
    content: "<p>Hello</p>",
    visibility: "public",
  };
  const made = (overrides: Record<string, unknown> = {}) => ({
    ...old,
    id: "7",
    created_at: NOW.toISOString(),
    ...overrides,
  });
  const run = (
    list: unknown,
    overrides: Partial<LegToPublish> = {},
    draft: Partial<LegDraft> = {},
  ) =>
    mastodon.calls.publish.find(
      leg(
        { options: { visibility: "public" }, ...draft },
        { credentials: elsewhere, remote: noted, sentAt: minutes(1), ...overrides },
      ),
      scriptedTools({ http: { [LIST]: Array.isArray(list) ? answer(200, list) : answer(403) } }),
    );

  test("an unknown outcome at a server without keys is the new post with the same words, by whatever clock", async () => {
    expect(await run([made({ created_at: minutes(59).toISOString() }), old])).toEqual(published);
  });

  test("an unknown outcome at a server without keys is never an earlier post of the same words", async () => {
    const nothing = { kind: "absent" };
    expect(await run([old])).toEqual(nothing);
    const slid = made({ created_at: minutes(90).toISOString() });
    expect(await run([old, slid])).toEqual(nothing);
  });

  test.each<[string, unknown, Partial<LegToPublish>?]>([
    ["another new post may be it, changed", [made({ content: "<p>Hullo</p>" }), old]],
    ["two new posts fit", [made(), made({ id: "8" }), old]],
    ["the list shows no post of this visibility", [{ ...old, visibility: "unlisted" }]],
    ["the list is empty", []],
    ["the list can't be read", undefined],
    ["nothing was noted of the list", [made(), old], { remote: { ...begun, keepsKeys: false } }],
  ])("stays unknown where %s", async (_what, list, overrides) => {
    expect(await run(list, overrides)).toMatchObject({
      kind: "unknowable",
      failure: { code: "outcome_unknown" },
    });
  });

  test("takes reposts for nothing", async () => {
    expect(await run([made({ content: "", reblog: old }), old])).toEqual({ kind: "absent" });
  });

  test("waits while the first attempt may still be under way", async () => {
    for (const list of [[old], [made({ content: "Hullo" }), old]])
      expect(await run(list, { sentAt: NOW })).toMatchObject({ kind: "not_yet" });
  });

  test("an unknown outcome at a server without keys is told by words and files together, which keep their id or their address", async () => {
    const file = { id: "1", kind: "image", isReady: true, url: `${ORIGIN}/a.jpg` };
    const withFile = { remote: { ...noted, media: [file] } };
    const draft = { media: files(FILE) };
    const at = (...attachments: readonly object[]) => [
      made({ media_attachments: attachments }),
      old,
    ];
    expect(await run(at({ id: "1" }), withFile, draft)).toEqual(published);
    expect(await run(at({ id: "9", url: file.url }), withFile, draft)).toEqual(published);
    for (const list of [at(), at({ id: "9" }), at({ id: "1" }, { id: "2" })])
      expect(await run(list, withFile, draft)).toMatchObject({ kind: "unknowable" });
  });

  test("an unknown outcome at a server without keys is the post whose Markdown was rendered", async () => {
    const content =
      "<p><b>Bold</b>, <i>slanted</i> and <a href='https://a.example/'>linked</a></p>";
    const text = "**Bold**, _slanted_ and [linked](https://a.example/)";
    expect(await run([made({ content }), old], {}, { text })).toEqual(published);
  });

  test("asks for the account's own visibility where the post names none", async () => {
    const verify = `GET ${ORIGIN}/api/v1/accounts/verify_credentials`;
    const ask = (privacy: string) =>
      mastodon.calls.publish.find(
        leg({}, { credentials: elsewhere, remote: noted, sentAt: minutes(1) }),
        scriptedTools({
          http: { [LIST]: answer(200, [old]), [verify]: answer(200, { source: { privacy } }) },
        }),
      );
    expect(await ask("public")).toEqual({ kind: "absent" });
    expect(await ask("private")).toMatchObject({ kind: "unknowable" });
  });
});
