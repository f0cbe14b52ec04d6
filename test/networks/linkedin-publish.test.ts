import { describe, expect, test } from "vitest";
import { linkedin } from "../../src/shared/networks/linkedin/index.ts";
import type { LegDraft, NetworkData } from "../../src/shared/networks/contract/draft.ts";
import type { LegToPublish } from "../../src/shared/networks/contract/visible-call.ts";
import { networkOf } from "../../src/shared/networks/networks.ts";
import { checkingRefusals, files } from "./legs.ts";
import {
  type Script,
  NOW,
  answer,
  htmlPage,
  lost,
  refusedToConnect,
  sentJson,
} from "./scripted-tools.ts";
import {
  CLIP,
  FILE,
  PAPER,
  POST,
  REST,
  SECOND,
  ago,
  asset,
  begun,
  denied,
  leg,
  member,
  organization,
  renewable,
  revoked,
  tools,
  uploaded,
} from "./linkedin-script.ts";

const LIST = `GET ${REST}/posts`;
const URN = "urn:li:share:6844785523593134080";
const published = {
  kind: "done",
  externalId: URN,
  url: `https://www.linkedin.com/feed/update/${URN}/`,
};
const created = answer(201, "", { "x-restli-id": URN });
const duplicate = answer(422, { status: 422, message: `Content is a duplicate of ${URN}` });
const notReady = answer(400, { code: "MEDIA_ASSET_WAITING_UPLOAD" });
const processingFailed = answer(400, { code: "MEDIA_ASSET_PROCESSING_FAILED" });

describe("publishing to LinkedIn", () => {
  const publish = (http: NonNullable<Script["http"]>, overrides: Partial<LegToPublish> = {}) =>
    linkedin.calls.publish.perform(leg({}, { sentAt: NOW, ...overrides }), tools({ http }));
  const sent = async (draft: Partial<LegDraft>, overrides: Partial<LegToPublish> = {}) => {
    const scripted = tools({ http: { [POST]: created } });
    expect(await linkedin.calls.publish.perform(leg(draft, overrides), scripted)).toEqual(
      published,
    );
    return scripted.calls[0];
  };

  test("sends the same post each time, escaped as LinkedIn wants it", async () => {
    const ready = { text: "Launch (beta) #AI", options: { visibility: "CONNECTIONS" } };
    const request = await sent(ready);
    expect(await sent(ready, { sentAt: ago(60) })).toEqual(request);
    expect(sentJson(request)).toEqual({
      author: member.author,
      commentary: String.raw`Launch \(beta\) {hashtag|\#|AI}`,
      visibility: "CONNECTIONS",
      distribution: {
        feedDistribution: "MAIN_FEED",
        targetEntities: [],
        thirdPartyDistributionChannels: [],
      },
      lifecycleState: "PUBLISHED",
      isReshareDisabledByAuthor: false,
    });
    expect(request?.headers).toEqual({
      accept: "application/json",
      authorization: "Bearer token",
      "content-type": "application/json",
      "linkedin-version": "202609",
      "x-restli-protocol-version": "2.0.0",
    });
  });

  test.each(["", "null", "urn:li:person:A", "urn:li:share:"])(
    "a post is in doubt after an answer that names none (%j)",
    async (id) => {
      const outcome = await publish({ [POST]: answer(201, "", { "x-restli-id": id }) });
      expect(outcome).toMatchObject({ kind: "unknown", failure: { code: "outcome_unknown" } });
    },
  );

  test.each<[string, Partial<LegDraft>, readonly unknown[], unknown]>([
    [
      "an image",
      { media: [{ url: FILE, altText: "A cat" }] },
      [asset("image", "A")],
      { media: { id: "urn:li:image:A", altText: "A cat" } },
    ],
    [
      "several images",
      {
        media: [
          { url: FILE, altText: null },
          { url: SECOND, altText: "B" },
        ],
      },
      [asset("image", "A"), asset("image", "B")],
      {
        multiImage: { images: [{ id: "urn:li:image:A" }, { id: "urn:li:image:B", altText: "B" }] },
      },
    ],
    [
      "a video",
      { media: [{ url: CLIP, altText: "ignored" }] },
      [asset("video", "V")],
      { media: { id: "urn:li:video:V" } },
    ],
    [
      "a document",
      { media: files(PAPER), options: { documentTitle: "Report" } },
      [asset("document", "D")],
      { media: { id: "urn:li:document:D", title: "Report" } },
    ],
    [
      "a link card",
      { options: { link: { url: "https://a.example", title: "A" } } },
      [],
      { article: { source: "https://a.example", title: "A" } },
    ],
    [
      "a link card with everything",
      {
        options: {
          link: { url: "https://a.example", title: "A", description: "d", thumbnailUrl: FILE },
        },
      },
      [asset("image", "A")],
      {
        article: {
          source: "https://a.example",
          title: "A",
          description: "d",
          thumbnail: "urn:li:image:A",
        },
      },
    ],
  ])("shows %s", async (_what, draft, assets, content) => {
    const request = await sent(draft, { remote: uploaded(...assets) });
    expect(sentJson(request)["content"]).toEqual(content);
  });

  test("sends nothing whose files are not there", async () => {
    await expect(
      linkedin.calls.publish.perform(leg({ media: files(FILE) }), tools()),
    ).rejects.toThrow();
  });

  test("takes the duplicate that it meets after an unknown outcome for its own post", async () => {
    const doubtful = await publish({ [POST]: lost });
    if (doubtful.kind !== "unknown") throw new Error("not in doubt");
    const remote = doubtful.remote ?? {};
    expect(await publish({ [POST]: duplicate }, { remote })).toEqual(published);
  });

  test("publishing to LinkedIn takes the duplicate for its own post after a crash, too, that left nothing but the time of sending", async () => {
    const sentAt = ago(120);
    const prepared = await linkedin.calls.publish.prepare(leg({}, { sentAt }), tools());
    if (prepared.kind !== "ready") throw new Error("not ready");
    const { remote } = prepared;
    expect(await publish({ [POST]: duplicate }, { remote, sentAt })).toEqual(published);
  });

  test("forgets the doubt of an attempt that was later told to have failed", async () => {
    const remote = { ...begun, isRepeat: true, doubts: 1 };
    const prepared = await linkedin.calls.publish.prepare(
      leg({}, { remote, sentAt: null }),
      tools(),
    );
    expect(prepared).toEqual({ kind: "ready", remote: begun });
  });

  test("waits for files that are not ready after all", async () => {
    const remote = uploaded(asset("image", "A"));
    const outcome = await linkedin.calls.publish.perform(
      leg({ media: files(FILE) }, { remote, sentAt: NOW }),
      tools({ http: { [POST]: notReady } }),
    );
    expect(outcome).toMatchObject({
      kind: "prepare_again",
      remote: uploaded(asset("image", "A", false)),
      failure: { code: "media_not_ready" },
      pollAfterSeconds: 0,
    });
  });

  test("uploads again files that could not be processed, once, and never for a repeat", async () => {
    const run = (remote: NetworkData) =>
      linkedin.calls.publish.perform(
        leg({ media: files(FILE) }, { remote, sentAt: NOW }),
        tools({ http: { [POST]: processingFailed } }),
      );
    const first = await run(uploaded(asset("image", "A")));
    expect(first).toMatchObject({ kind: "prepare_again", remote: { assets: [] } });
    if (first.kind !== "prepare_again") return;
    const refused = { kind: "rejected", failure: { code: "media_processing_failed" } };
    const { assets } = uploaded(asset("image", "B")) as { assets: unknown };
    expect(await run({ ...first.remote, assets })).toMatchObject(refused);
    expect(await run({ ...uploaded(asset("image", "A")), isRepeat: true })).toMatchObject(refused);
  });
});

describe("an unknown outcome at LinkedIn", () => {
  const lookUp = (
    overrides: Partial<LegToPublish>,
    http: NonNullable<Script["http"]> = {},
    draft: Partial<LegDraft> = {},
  ) =>
    linkedin.calls.publish.find(
      leg({ text: "Hi (all) #AI", ...draft }, overrides),
      tools({ http }),
    );

  test("an unknown outcome at LinkedIn is nothing when nothing was sent", async () => {
    const nothing = { kind: "absent" };
    expect(await lookUp({})).toEqual(nothing);
    expect(await lookUp({ credentials: organization })).toEqual(nothing);
  });

  describe("of a member", () => {
    test.each([
      [29, 1, { kind: "not_yet", pollAfterSeconds: 30 }],
      [30, 1, { kind: "repeatable" }],
      [30, 0, { kind: "repeatable" }],
      [540, 1, { kind: "repeatable" }],
      [541, 1, { kind: "unknowable", failure: { code: "outcome_unknown" } }],
      [60, 2, { kind: "unknowable", failure: { code: "outcome_unknown" } }],
    ])("a member's outcome after %s s and %s doubts", async (seconds, doubts, expected) => {
      const remote = { ...begun, isRepeat: doubts > 0, doubts };
      expect(await lookUp({ remote, sentAt: ago(seconds) })).toMatchObject(expected);
    });

    test.each<[string, Partial<LegDraft>]>([
      ["files", { media: files(FILE) }],
      [
        "a picture of a link",
        { options: { link: { url: "https://a.example", title: "A", thumbnailUrl: FILE } } },
      ],
    ])("a member's post with %s is not sent again", async (_what, draft) => {
      const remote = { ...uploaded(asset("image", "A")), isRepeat: true, doubts: 1 };
      const sent = { remote, sentAt: ago(60) };
      expect(await lookUp(sent, {}, draft)).toMatchObject({ kind: "unknowable" });
    });
  });

  describe("of an organization", () => {
    const post = (overrides: Record<string, unknown> = {}) => ({
      id: URN,
      author: organization.author,
      commentary: String.raw`Hi \(all\) {hashtag|\#|AI}`,
      createdAt: ago(90).getTime(),
      lastModifiedAt: ago(90).getTime(),
      lifecycleState: "PUBLISHED",
      ...overrides,
    });
    const listed = (...elements: readonly unknown[]) => ({ [LIST]: answer(200, { elements }) });
    const ask = (
      http: NonNullable<Script["http"]>,
      overrides: Partial<LegToPublish> = {},
      draft: Partial<LegDraft> = {},
    ) => lookUp({ credentials: organization, sentAt: ago(100), ...overrides }, http, draft);

    test("an unknown outcome at LinkedIn of an organization is looked up among its posts", async () => {
      const scripted = tools({ http: listed(post()) });
      const sent = leg({ text: "Hi (all) #AI" }, { credentials: organization, sentAt: ago(100) });
      expect(await linkedin.calls.publish.find(sent, scripted)).toEqual(published);
      expect(scripted.calls[0]?.url).toBe(
        `${REST}/posts?q=author&author=urn%3Ali%3Aorganization%3A7&start=0&count=10&sortBy=LAST_MODIFIED`,
      );
      expect(scripted.calls[0]?.headers).toMatchObject({ "x-restli-method": "FINDER" });
    });

    // A refusal is about its own call.
    test.each([
      ["nothing else", true, "refused"],
      ["an earlier call whose answer was lost", false, "unknowable"],
    ])(
      "an organization's post is refused after %s: %s, where no list tells",
      async (_what, isUnpublished, end) => {
        const forbidden = answer(403, { code: "SOMETHING_NEW" });
        const scripted = tools({
          http: { [POST]: answer(422, { code: "NEW" }), [LIST]: forbidden },
        });
        const first = { credentials: organization, sentAt: NOW, isUnpublished };
        const network = checkingRefusals(networkOf("linkedin"));
        const outcome = await network.perform(leg({}, first), scripted);
        expect(outcome).toMatchObject({ kind: "unknown", failure: { code: "outcome_unknown" } });
        const later = leg({}, { credentials: organization, sentAt: ago(100) });
        expect(await network.find(later, scripted)).toMatchObject({ kind: end });
      },
    );

    test.each([
      ["other words", post({ commentary: "Hi all" })],
      ["an older post", post({ createdAt: ago(300).getTime() })],
      ["a post that failed", post({ lifecycleState: "PUBLISH_FAILED" })],
    ])("an unknown outcome at LinkedIn of an organization is not %s", async (_what, found) => {
      expect(await ask(listed(found))).toEqual({ kind: "absent" });
    });

    test.each([
      ["an image", { media: { id: "urn:li:image:A" } }],
      ["several", { multiImage: { images: [{ id: "urn:li:image:X" }, { id: "urn:li:image:A" }] } }],
      ["one beside an odd entry", { multiImage: { images: [null, { id: "urn:li:image:A" }] } }],
      ["a card's picture", { article: { source: "x", thumbnail: "urn:li:image:A" } }],
    ])("the post with the same file (%s) is the organization's", async (_what, content) => {
      const remote = uploaded(asset("image", "A"));
      const twin = post({ id: "urn:li:share:1" });
      const found = await ask(listed(twin, post({ commentary: "", content })), { remote });
      expect(found).toEqual(published);
    });

    test.each([
      ["from before the call", {}, { createdAt: ago(130).getTime() }],
      ["with a file", {}, { content: { media: { id: "urn:li:image:X" } } }],
      [
        "with another link",
        { options: { link: { url: "https://a.example", title: "A" } } },
        { content: { article: { source: "https://b.example" } } },
      ],
    ])("a post of the same words %s proves nothing, and is not sent again", async (...given) => {
      const [, draft, overrides] = given;
      const found = listed(post(overrides));
      expect(await ask(found, {}, draft)).toMatchObject({ kind: "unknowable" });
      const early = await ask(found, { sentAt: ago(59) }, draft);
      expect(early).toMatchObject({ kind: "not_yet" });
    });

    test.each([{ createdAt: "yesterday" }, { id: 7 }, null])(
      "a list with an unreadable entry proves no absence (%j)",
      async (odd) => {
        const entry = odd === null ? null : post({ commentary: "x", ...odd });
        expect(await ask(listed(entry))).toEqual({ kind: "repeatable" });
        const withFile = { remote: uploaded(asset("image", "A")) };
        expect(await ask(listed(entry), withFile, { media: files(FILE) })).toMatchObject({
          kind: "unknowable",
        });
      },
    );

    test("an unknown outcome at LinkedIn of an organization is waited for while the list may not show it yet", async () => {
      const early = await ask(listed(), { sentAt: ago(59) });
      expect(early).toMatchObject({ kind: "not_yet", failure: { code: "outcome_unknown" } });
      expect(await ask(listed(), { sentAt: ago(60) })).toEqual({
        kind: "absent",
      });
      expect(await ask(listed(post()), { sentAt: ago(5) })).toMatchObject({ kind: "not_yet" });
    });

    test("an unknown outcome at LinkedIn of an organization is looked for on later pages, but not for ever", async () => {
      const others = (age: number) =>
        answer(200, {
          elements: Array.from({ length: 10 }, () =>
            post({ commentary: "x", createdAt: ago(age).getTime(), lastModifiedAt: undefined }),
          ),
        });
      const second = { [LIST]: [others(10), answer(200, { elements: [post()] })] };
      expect(await ask(second)).toEqual(published);
      const scripted = tools({ http: { [LIST]: others(10) } });
      const sent = leg({}, { credentials: organization, sentAt: ago(100) });
      expect(await linkedin.calls.publish.find(sent, scripted)).toEqual({
        kind: "repeatable",
      });
      expect(scripted.calls.map(({ url }) => /start=(\d+)/.exec(url)?.[1])).toEqual([
        "0",
        "10",
        "20",
      ]);
      const beyond = tools({ http: { [LIST]: others(900) } });
      expect(await linkedin.calls.publish.find(sent, beyond)).toMatchObject({ kind: "absent" });
      expect(beyond.calls).toHaveLength(1);
    });

    test("an unknown outcome at LinkedIn of an organization that may not be listed is one of a member's", async () => {
      const http = { [LIST]: denied };
      expect(await ask(http)).toEqual({ kind: "repeatable" });
      expect(await ask(http, { sentAt: ago(3600) })).toMatchObject({ kind: "unknowable" });
      expect(await ask(http, {}, { media: files(FILE) })).toMatchObject({ kind: "unknowable" });
    });

    test.each([
      lost,
      refusedToConnect,
      htmlPage(502),
      answer(500, { message: "oops" }),
      answer(200, "ok"),
      answer(429, { message: "throttle" }, { "retry-after": "7" }),
    ])("an organization's outcome is asked again (%#)", async (reply) => {
      expect(await ask({ [LIST]: reply })).toMatchObject({
        kind: "not_yet",
        failure: { code: "outcome_unknown" },
      });
    });

    test("an unknown outcome at LinkedIn of an organization is asked again with a renewed token", async () => {
      const credentials = { ...renewable, kind: "organization" };
      expect(await ask({ [LIST]: revoked }, { credentials })).toMatchObject({ kind: "not_yet" });
    });
  });
});
