import { describe, expect, test } from "vitest";
import { comment as onPage } from "../../src/shared/networks/facebook/comment.ts";
import { comment as onMedia } from "../../src/shared/networks/instagram/comment.ts";
import { comment as onUpdate } from "../../src/shared/networks/linkedin/comment.ts";
import type { FollowUp, FollowUpCall } from "../../src/shared/networks/contract/visible-call.ts";
import * as facebook from "./facebook-script.ts";
import { followUpOf } from "./follow-ups.ts";
import * as instagram from "./instagram-script.ts";
import * as li from "./linkedin-script.ts";
import { answer, htmlPage, lost, NOW, refusedToConnect, type Reply } from "./scripted-tools.ts";

const TEXT = "First!  And a\nlink: https://shop.example";
const URN = "urn:li:share:71";
const COMMENT_URN = "urn:li:comment:(urn:li:activity:72,5)";
const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1000);

interface Entry {
  readonly text?: string;
  readonly at?: Date;
  readonly isOthers?: boolean;
}

interface Case {
  readonly comment: FollowUpCall;
  readonly call: FollowUp;
  readonly path: string;
  readonly tools: typeof facebook.tools;
  readonly written: Reply;
  readonly done: object;
  readonly sent: unknown;
  readonly noPost: Reply;
  readonly refused: Reply;
  readonly list: (entries: readonly Entry[]) => Reply;
}

const CASES: Readonly<Record<"facebook" | "instagram" | "linkedin", Case>> = {
  facebook: {
    comment: onPage,
    call: followUpOf(facebook.leg({}, { remote: facebook.asText }), "42_71", { text: TEXT }),
    path: `${facebook.GRAPH}/42_71/comments`,
    tools: facebook.tools,
    written: answer(200, { id: "71_5", permalink_url: "https://www.facebook.com/42/posts/71?c=5" }),
    done: { externalId: "71_5", url: "https://www.facebook.com/42/posts/71?c=5" },
    sent: { message: TEXT, appsecret_proof: facebook.proof("page-token") },
    noPost: facebook.error(100, 33),
    refused: facebook.error(368),
    list: (entries) =>
      answer(200, {
        data: entries.map(({ text = TEXT, at = NOW, isOthers = false }) => ({
          id: "71_5",
          message: text,
          created_time: at.toISOString().replace(/\.\d+Z$/, "+0000"),
          from: { id: isOthers ? "43" : "42" },
          permalink_url: "https://www.facebook.com/42/posts/71?c=5",
        })),
      }),
  },
  instagram: {
    comment: onMedia,
    call: followUpOf(instagram.leg({}, { remote: instagram.anImage }), "71", { text: TEXT }),
    path: `${instagram.GRAPH}/71/comments`,
    tools: instagram.tools,
    written: answer(200, { id: "5" }),
    done: { externalId: "5", url: null },
    sent: new URLSearchParams({ message: TEXT }).toString(),
    noPost: instagram.error(100, 33),
    refused: instagram.error(368),
    list: (entries) =>
      answer(200, {
        data: entries.map(({ text = TEXT, at = NOW, isOthers = false }) => ({
          id: "5",
          text,
          timestamp: at.toISOString().replace(/\.\d+Z$/, "+0000"),
          username: isOthers ? "reader" : "bakery",
        })),
      }),
  },
  linkedin: {
    comment: onUpdate,
    call: followUpOf(li.leg({}, { credentials: li.organization }), URN, { text: TEXT }),
    path: `${li.REST}/socialActions/${encodeURIComponent(URN)}/comments`,
    tools: li.tools,
    written: answer(201, { id: "5", commentUrn: COMMENT_URN }, { "x-restli-id": "5" }),
    done: {
      externalId: COMMENT_URN,
      url: `https://www.linkedin.com/feed/update/${URN}/?commentUrn=${encodeURIComponent(COMMENT_URN)}`,
    },
    sent: { actor: "urn:li:organization:7", object: URN, message: { text: TEXT } },
    noPost: answer(404, { status: 404, message: "Not found" }),
    refused: answer(400, { status: 400, code: "INVALID_URN_ID" }),
    list: (entries) =>
      answer(200, {
        elements: entries.map(({ text = TEXT, at = NOW, isOthers = false }) => ({
          id: "5",
          commentUrn: COMMENT_URN,
          actor: isOthers ? "urn:li:person:x" : "urn:li:organization:7",
          message: { text },
          created: { time: at.getTime() },
        })),
      }),
  },
};

describe.each(Object.entries(CASES))("%s", (_name, given) => {
  const { comment, call, path, tools, done, list } = given;
  const perform = (reply: Reply) =>
    comment.perform({ ...call, sentAt: NOW }, tools({ http: { [`POST ${path}`]: reply } }));
  const find = (reply: Reply, seconds: number, isRefused = false) =>
    comment.find(
      { ...call, sentAt: ago(seconds), isRefused },
      tools({ http: { [`GET ${path}`]: reply } }),
    );

  test("writes the text as it is", async () => {
    const scripted = tools({ http: { [`POST ${path}`]: given.written } });
    expect(await comment.perform({ ...call, sentAt: NOW }, scripted)).toEqual({
      kind: "done",
      ...done,
    });
    const body = scripted.calls[0]?.body as string;
    expect(typeof given.sent === "string" ? body : JSON.parse(body)).toEqual(given.sent);
  });

  test.each([
    ["no answer", lost],
    ["a server that failed", answer(500, {})],
    ["a page of a proxy", htmlPage(502)],
    ["an answer without a comment", answer(200, {})],
  ] as const)("the outcome of a comment is not known after %s", async (_, reply) => {
    expect(await perform(reply)).toMatchObject({
      kind: "unknown",
      failure: { code: "outcome_unknown" },
    });
  });

  test("tries again later where nothing was sent", async () => {
    expect(await perform(refusedToConnect)).toMatchObject({ kind: "try_later" });
  });

  test("finds its own comment after a lost answer", async () => {
    expect(await find(list([{ isOthers: true }, {}]), 6)).toEqual({ kind: "done", ...done });
    const folded = { text: "First! And a link: https://shop.example " };
    expect(await find(list([folded]), 6)).toMatchObject({ kind: "done" });
  });

  test.each<readonly [string, Entry]>([
    ["of another author", { isOthers: true }],
    ["with other words", { text: "Second!" }],
    ["from before the call", { at: ago(600) }],
  ])("takes no comment %s for its own", async (_, entry) => {
    expect(await find(list([entry]), 130)).toMatchObject({ kind: "unknowable" });
  });

  test("lists three times before a comment that is not there counts as unknown", async () => {
    const looks = [6, 31, 121].map((seconds) => find(list([]), seconds));
    expect(await Promise.all(looks)).toMatchObject([
      { kind: "not_yet", pollAfterSeconds: 24 },
      { kind: "not_yet", pollAfterSeconds: 89 },
      { kind: "unknowable", failure: { code: "outcome_unknown" } },
    ]);
  });

  test("lets nothing be sent again that was sent once", async () => {
    const replies = [list([]), given.noPost, answer(500, {}), lost, answer(403, { status: 403 })];
    for (const reply of replies)
      expect((await find(reply, 3_600)).kind).toMatch(/not_yet|unknowable/);
  });

  test("counts a refusal once the list does not show the comment", async () => {
    expect(await perform(given.refused)).toMatchObject({ kind: "rejected" });
    expect(await find(list([]), 6, true)).toMatchObject({ kind: "not_yet" });
    expect(await find(list([]), 125, true)).toEqual({ kind: "absent" });
    expect(await find(list([{}]), 125, true)).toMatchObject({ kind: "done" });
  });

  test("takes it for proof that nothing was written when the network does not know the post", async () => {
    expect(await perform(given.noPost)).toMatchObject({ kind: "try_later", isProof: true });
  });

  test("a comment that was never sent may be sent", async () => {
    expect(await comment.find(call, tools())).toEqual({ kind: "absent" });
  });
});

describe("a member at linkedin", () => {
  const { path } = CASES.linkedin;
  const call = followUpOf(li.leg(), URN, { text: TEXT, sentAt: NOW });
  const perform = (reply: Reply) =>
    onUpdate.perform(call, li.tools({ http: { [`POST ${path}`]: reply } }));

  test("a member at linkedin is not asked for comments, which nobody may list", async () => {
    expect(await perform(lost)).toMatchObject({ kind: "unknown" });
    expect(await onUpdate.find(call, li.tools())).toMatchObject({ kind: "unknowable" });
  });

  test("a member at linkedin is refused where the app may not comment, without another address being tried", async () => {
    const message = "Not enough permissions to access: partnerApiSocialActions.CREATE.20260901";
    const refusal = answer(403, { status: 403, code: "ACCESS_DENIED", message });
    expect(await perform(refusal)).toMatchObject({
      kind: "rejected",
      failure: { code: "permission_missing" },
    });
  });

  test.each([
    ["throttled", answer(429, { status: 429, message: "Comment create throttled" }), "try_later"],
    ["not there yet", answer(404, { status: 404 }), "try_later"],
    ["refused", answer(400, { status: 400, code: "INVALID_URN_ID" }), "rejected"],
  ] as const)("a member is told immediately that a comment is %s", async (_, reply, kind) => {
    expect(await perform(reply)).toMatchObject({ kind });
  });
});

test.each([
  ["facebook", onPage, ["pages_manage_posts"], ["pages_manage_engagement"]],
  ["facebook", onPage, ["pages_manage_engagement"], []],
  ["instagram", onMedia, [], ["instagram_business_manage_comments"]],
  ["linkedin", onUpdate, ["w_member_social"], ["w_member_social_feed"]],
  ["linkedin", onUpdate, ["w_member_social", "w_member_social_feed"], []],
  ["linkedin", onUpdate, ["w_organization_social"], ["w_organization_social_feed"]],
] as const)("names what %s needs for comments", (_, { missingScopes }, scopes, missing) => {
  expect(missingScopes?.(scopes)).toEqual(missing);
});

test("writes no comment below a story", () => {
  const { account } = facebook.leg();
  const isSupported = ({ isSupported: asks }: FollowUpCall, form: string) =>
    asks?.({ account, limits: {}, remote: { form } });
  expect([isSupported(onPage, "reel"), isSupported(onMedia, "image")]).toEqual([true, true]);
  expect([isSupported(onPage, "photo_story"), isSupported(onMedia, "video_story")]).toEqual([
    false,
    false,
  ]);
});
