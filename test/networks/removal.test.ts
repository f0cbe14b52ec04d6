import { describe, expect, test } from "vitest";
import { remove as removeRecord } from "../../src/shared/networks/bluesky/remove.ts";
import { remove as removeFromPage } from "../../src/shared/networks/facebook/remove.ts";
import { remove as removeUrn } from "../../src/shared/networks/linkedin/remove.ts";
import { remove as removeStatus } from "../../src/shared/networks/mastodon/remove.ts";
import type { FollowUp, FollowUpCall } from "../../src/shared/networks/contract/visible-call.ts";
import * as atproto from "./bluesky-script.ts";
import { graph } from "./error-cases.ts";
import * as facebook from "./facebook-script.ts";
import { followUpOf } from "./follow-ups.ts";
import * as li from "./linkedin-script.ts";
import * as fediverse from "./mastodon-script.ts";
import { answer, htmlPage, lost, NOW, type Reply, scriptedTools } from "./scripted-tools.ts";

const removed = { kind: "done", externalId: null, url: null };
const permission = { kind: "rejected", failure: { code: "permission_missing" } };
const URN = "urn:li:share:71";

interface Case {
  readonly remove: FollowUpCall;
  readonly call: FollowUp;
  readonly request: string;
  readonly answers: readonly (readonly [string, Reply, object])[];
}

const inHalfAnHour = new Date(NOW.getTime() + 1_800_000).toISOString();

const CASES: Readonly<Record<string, Case>> = {
  mastodon: {
    remove: removeStatus,
    call: followUpOf(fediverse.leg(), "114"),
    request: `DELETE ${fediverse.ORIGIN}/api/v1/statuses/114`,
    answers: [
      ["the status", answer(200, { id: "114", text: "Hello" }), removed],
      ["a status that is gone", answer(404, { error: "Record not found" }), removed],
      [
        "too many deletions",
        answer(429, { error: "Too many requests" }, { "x-ratelimit-reset": inHalfAnHour }),
        { kind: "try_later", failure: { code: "rate_limited" }, retryAfterSeconds: 1_800 },
      ],
      [
        "a token without the scope",
        answer(403, { error: "This action is outside the authorized scopes" }),
        permission,
      ],
    ],
  },
  linkedin: {
    remove: removeUrn,
    call: followUpOf(li.leg(), URN),
    request: `DELETE ${li.REST}/posts/${encodeURIComponent(URN)}`,
    answers: [
      ["a post, or one that is gone", answer(204), removed],
      ["a post that it does not find", answer(404, { status: 404 }), removed],
      [
        "an API that the app does not have",
        answer(404, { status: 404, message: "Resource posts does not exist" }),
        { kind: "rejected", failure: { code: "app_misconfigured" } },
      ],
      ["a token without the permission", li.denied, permission],
    ],
  },
  bluesky: {
    remove: removeRecord,
    call: followUpOf(atproto.leg(), `at://${atproto.DID}/app.bsky.feed.post/${atproto.rkey}`),
    request: atproto.xrpc("POST", "com.atproto.repo.deleteRecord"),
    answers: [
      ["a record", answer(200, { commit: { cid: "c", rev: "r" } }), removed],
      ["a record that is gone", answer(200, {}), removed],
      [
        "a session without the scope",
        answer(403, { error: "ScopeMissingError", message: "Missing required scope" }),
        permission,
      ],
    ],
  },
};

describe.each(Object.entries(CASES))("%s", (_name, { remove, call, request, answers }) => {
  const answered = (reply: Reply) => {
    const tools = scriptedTools({ app: li.app, http: { [request]: reply } });
    return remove.perform(call, tools);
  };

  test.each(answers)("answers a removal: %s", async (_, reply, outcome) => {
    expect(await answered(reply)).toMatchObject(outcome);
  });

  test.each([
    ["no answer", lost],
    ["a server that failed", answer(500, "")],
    ["a page of a proxy", htmlPage(502)],
    ["a page of a proxy that knows no such address", htmlPage(404)],
  ] as const)("removes again after %s", async (_, reply) => {
    expect(await answered(reply)).toMatchObject({
      kind: "try_later",
      failure: { code: "network_unavailable" },
    });
    const again = { ...call, sentAt: NOW };
    expect(await remove.find(again, scriptedTools())).toEqual({ kind: "repeatable" });
  });
});

describe("facebook", () => {
  const POST = "42_71";
  const PAGE = answer(200, { id: "42" });
  const gone = facebook.error(100, 33);
  const done = answer(200, { success: true });
  const at = (method: string, id: string) => `${method} ${facebook.GRAPH}/${id}`;
  const remove = (remote: object, id: string, http: Readonly<Record<string, Reply>>) =>
    removeFromPage.perform(
      followUpOf(facebook.leg({}, { remote: { ...remote } }), id),
      facebook.tools({ http }),
    );

  test("deletes a post, and of its photos those that are left", async () => {
    const http = {
      [at("DELETE", POST)]: done,
      [at("GET", "1")]: gone,
      [at("GET", "2")]: answer(200, { id: "2" }),
      [at("DELETE", "2")]: done,
    };
    expect(await remove(facebook.asPhotos, POST, http)).toEqual(removed);
  });

  test("counts a post as removed that is not found by a token that reads the page", async () => {
    const http = { [at("DELETE", POST)]: gone, [at("GET", "42")]: PAGE };
    expect(await remove(facebook.asText, POST, http)).toEqual(removed);
  });

  test.each([
    ["that ended", facebook.error(190, 460, 401), "connection_needs_reauth"],
    ["without the permission", facebook.error(200, undefined, 403), "permission_missing"],
    ["that does not see the page either", gone, "permission_missing"],
  ] as const)("Facebook's removal does not count with a token %s", async (_, page, code) => {
    const http = { [at("DELETE", POST)]: gone, [at("GET", "42")]: page };
    expect(await remove(facebook.asText, POST, http)).toMatchObject({
      kind: "rejected",
      failure: { code },
    });
  });

  test.each([
    ["the post", done, gone],
    ["the video", facebook.error(100), done],
  ] as const)("removes a reel by the deletion of %s", async (_, ofPost, ofVideo) => {
    const http = {
      [at("GET", "9")]: answer(200, { id: "9", post_id: "71" }),
      [at("DELETE", POST)]: ofPost,
      [at("DELETE", "9")]: ofVideo,
      [at("GET", "42")]: PAGE,
    };
    expect(await remove(facebook.asReel, "9", http)).toEqual(removed);
  });

  test("tells why a video is still there", async () => {
    const http = {
      [at("GET", "9")]: answer(200, { id: "9", post_id: POST }),
      [at("DELETE", POST)]: facebook.error(200, undefined, 403),
      [at("DELETE", "9")]: facebook.error(100),
    };
    expect(await remove(facebook.asReel, "9", http)).toMatchObject(permission);
  });

  describe("what Facebook does not find, in whatever words", () => {
    const JUST_DELETED =
      "Object does not exist, cannot be loaded due to missing permission or reviewable feature, or does not support this operation.";
    const said = (code: number, message: string) =>
      answer(400, graph(code, undefined, { message }));
    const absences = [
      said(10, `(#10) ${JUST_DELETED}`),
      said(100, `(#100) ${JUST_DELETED}`),
      said(33, "(#33) This object does not exist or does not support this action"),
      said(803, "(#803) Some of the aliases you requested do not exist: 1"),
      said(1705, "(#1705) Selected wall post for deletion does not exist."),
    ];

    test.each(absences)("is a removed text (%#)", async (absent) => {
      const http = { [at("DELETE", POST)]: absent, [at("GET", "42")]: PAGE };
      expect(await remove(facebook.asText, POST, http)).toEqual(removed);
    });

    test.each(absences)("is a photo or reel that went with its post (%#)", async (absent) => {
      const photos = {
        [at("DELETE", POST)]: done,
        [at("GET", "1")]: absent,
        [at("GET", "2")]: absent,
        [at("GET", "42")]: PAGE,
      };
      expect(await remove(facebook.asPhotos, POST, photos)).toEqual(removed);
      const reel = {
        [at("GET", "9")]: [answer(200, { id: "9", post_id: POST }), absent] as never,
        [at("DELETE", POST)]: done,
        [at("DELETE", "9")]: absent,
        [at("GET", "42")]: PAGE,
      };
      expect(await remove(facebook.asReel, "9", reel)).toEqual(removed);
    });

    test("is not what Facebook refuses for another reason", async () => {
      const refusals = [
        said(1705, "There was an error posting to this wall"),
        said(10, "(#10) Application does not have permission for this action"),
      ];
      for (const refusal of refusals) {
        const http = { [at("DELETE", POST)]: refusal, [at("GET", "42")]: PAGE };
        expect(await remove(facebook.asText, POST, http)).toMatchObject({ kind: "rejected" });
      }
    });

    test("is deleted all the same where only the read of a photo is refused", async () => {
      const http = {
        [at("DELETE", POST)]: done,
        [at("GET", "1")]: said(10, "(#10) Application does not have permission for this action"),
        [at("DELETE", "1")]: done,
        [at("GET", "2")]: gone,
      };
      expect(await remove(facebook.asPhotos, POST, http)).toEqual(removed);
    });
  });

  test("Facebook can't remove stories", () => {
    const { account } = facebook.leg();
    const isSupported = (form: string) =>
      removeFromPage.isSupported?.({ account, limits: {}, remote: { form } });
    expect(["text", "reel", "photo_story", "video_story"].map(isSupported)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

describe("a server like mastodon", () => {
  const own = { ...fediverse.credentials, software: "snac" };
  const call = followUpOf(fediverse.leg({}, { credentials: own }), "114");
  const path = `${fediverse.ORIGIN}/api/v1/statuses/114`;
  const own200 = answer(200, { id: "42" });
  const unsupported = { kind: "rejected", failure: { code: "feature_unsupported" } };
  const missing = answer(404, { error: "Not found" });
  const page = htmlPage(404);

  test.each([
    ["shows no status either", missing, missing, own200, removed],
    ["still shows it, because it knows no deletions", missing, own200, own200, unsupported],
    ["says so by a page, and knows the account", page, page, own200, removed],
    ["says so by a page, and still shows it", page, own200, own200, unsupported],
    ["is behind a proxy that answers all", page, page, page, { kind: "try_later" }],
  ] as const)("tells what a status that is not found means: it %s", async (...given) => {
    const [, deleted, status, account, end] = given;
    const http = {
      [`DELETE ${path}`]: deleted,
      [`GET ${path}`]: status,
      [`GET ${fediverse.ORIGIN}/api/v1/accounts/verify_credentials`]: account,
    };
    expect(await removeStatus.perform(call, scriptedTools({ http }))).toMatchObject(end);
  });
});

test("removes the record of its own account alone", async () => {
  const { remove, call, request } = CASES["bluesky"] as Case;
  const tools = scriptedTools({ http: { [request]: answer(200, {}) } });
  await remove.perform(call, tools);
  expect(JSON.parse(tools.calls[0]?.body as string)).toEqual({
    repo: atproto.DID,
    collection: "app.bsky.feed.post",
    rkey: atproto.rkey,
  });
});
