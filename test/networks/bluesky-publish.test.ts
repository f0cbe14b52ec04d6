import { describe, expect, test } from "vitest";
import { digestOf } from "../../src/shared/networks/contract/ended-token.ts";
import { bluesky } from "../../src/shared/networks/bluesky/index.ts";
import type { Script } from "./scripted-tools.ts";
import {
  NOW,
  answer,
  htmlPage,
  lost,
  refusedToConnect,
  scriptedTools,
  sentJson,
} from "./scripted-tools.ts";
import { DID, PDS, PLC, PUT, credentials, documentAt, leg, rkey, xrpc } from "./bluesky-script.ts";

const GET = xrpc("GET", "com.atproto.repo.getRecord");
const uri = `at://${DID}/app.bsky.feed.post/${rkey}`;
const published = {
  kind: "done",
  externalId: uri,
  url: `https://bsky.app/profile/${DID}/post/${rkey}`,
};

describe("publishing to Bluesky", () => {
  const record = { $type: "app.bsky.feed.post", text: "Hello", createdAt: NOW.toISOString() };
  const remote = { ...leg().remote, record };
  const publish = ({ http, ...rest }: Script, server = PDS) => {
    const tools = scriptedTools({ ...rest, http: { [PLC]: documentAt(server), ...http } });
    return bluesky.calls.publish.perform(leg({}, { remote, sentAt: NOW }), tools);
  };

  test.each([
    [400, { error: "AccountDeactivated" }, "account_restricted"],
    [401, { error: "AccountDeactivated" }, "account_restricted"],
    [400, { error: "InvalidRequest", message: "Account is deactivated" }, "account_restricted"],
    [
      400,
      { error: "InvalidRequest", message: `Could not find repo: ${DID}` },
      "connection_needs_reauth",
    ],
    [400, { error: "RepoNotFound" }, "connection_needs_reauth"],
  ])("knows an account that has moved by its document (%i %j)", async (status, body, here) => {
    const http = { [PUT]: answer(status, body) };
    const refused = (code: string) => ({ kind: "rejected", failure: { code } });
    expect(await publish({ http })).toMatchObject(refused(here));
    const moved = await publish({ http }, "https://new.example");
    expect(moved).toMatchObject(refused("connection_needs_reauth"));
    expect(moved).not.toHaveProperty("failure.rule");
  });

  test("publishing to Bluesky has the session renewed of an account that has moved behind the login host", async () => {
    const [old, server] = ["old", "new"].map((name) => `https://${name}.us-east.host.bsky.network`);
    const put = xrpc("POST", "com.atproto.repo.putRecord", old);
    const http = { [PLC]: documentAt(server ?? ""), [put]: answer(400, { error: "RepoNotFound" }) };
    const tools = scriptedTools({ http });
    const behind = { ...credentials, pds: old, service: "https://bsky.social" };
    const ready = leg({}, { remote, sentAt: NOW, credentials: behind });
    expect(await bluesky.calls.publish.perform(ready, tools)).toMatchObject({
      kind: "try_later",
      isProof: true,
      retryAfterSeconds: 0,
    });
    expect(await tools.hosts.find(digestOf(DID))).toMatchObject({ endedToken: expect.any(String) });
  });

  test("puts the record under its own key, the same bytes each time", async () => {
    const tools = scriptedTools({ http: { [PUT]: answer(200, { uri, cid: "bafy" }) } });
    const ready = leg({}, { remote, sentAt: NOW });
    expect(await bluesky.calls.publish.perform(ready, tools)).toEqual(published);
    expect(await bluesky.calls.publish.perform(ready, tools)).toEqual(published);
    expect(tools.calls[0]).toEqual(tools.calls[1]);
    expect(sentJson(tools.calls[0])).toEqual({
      repo: DID,
      collection: "app.bsky.feed.post",
      rkey,
      record,
      validate: true,
    });
  });

  test.each([
    ["a 200 that names another record", answer(200, { uri: `${uri}2`, cid: "bafy" })],
    [
      "a 200 that names another account's record",
      answer(200, { uri: uri.replace("aaaa", "bbbb") }),
    ],
    ["a 200 whose account is none", answer(200, { uri: uri.replace(DID, `${DID}\r\n?x=#`) })],
    ["a 200 that names a like", answer(200, { uri: uri.replace("post", "like"), cid: "bafy" })],
    ["a taken key", answer(400, { error: "InvalidSwap" })],
  ])("publishing to Bluesky is in doubt after %s", async (_what, reply) => {
    expect(await publish({ http: { [PUT]: reply } })).toMatchObject({
      kind: "unknown",
      failure: { code: "outcome_unknown" },
    });
  });

  test("uploads again what the network lost, under the same key, once", async () => {
    const reply = { http: { [PUT]: answer(400, { error: "BlobNotFound" }) } };
    const outcome = await publish(reply);
    expect(outcome).toMatchObject({ kind: "prepare_again", pollAfterSeconds: 0 });
    if (outcome.kind !== "prepare_again") return;
    expect(outcome.remote).toEqual({
      rkey,
      createdAt: NOW.toISOString(),
      reuploadedAt: NOW.toISOString(),
    });
    const again = leg({}, { remote: { ...outcome.remote, record } });
    expect(await bluesky.calls.publish.perform(again, scriptedTools(reply))).toMatchObject({
      kind: "rejected",
      failure: { code: "media_processing_failed" },
    });
    const later = scriptedTools({ ...reply, now: new Date(NOW.getTime() + 3_600_000) });
    expect(await bluesky.calls.publish.perform(again, later)).toMatchObject({
      kind: "prepare_again",
    });
  });

  test.each([
    answer(400, {
      error: "BlobTooLarge",
      message: "It is 1.84MB but the maximum size is 976.56KB.",
    }),
    answer(400, {
      error: "InvalidRequest",
      message: "Invalid app.bsky.feed.post record: record/embed/external/thumb is not accepted",
    }),
  ])(
    "publishes a link without its page's picture when the server refuses that (%#)",
    async (reply) => {
      const http = { [PUT]: reply };
      const sent = leg({}, { remote: { ...remote, foundPicture: "sent" }, sentAt: NOW });
      const outcome = await bluesky.calls.publish.perform(sent, scriptedTools({ http }));
      expect(outcome).toMatchObject({
        kind: "prepare_again",
        remote: { rkey, createdAt: NOW.toISOString(), foundPicture: "left_out" },
      });
      if (outcome.kind !== "prepare_again") return;
      const again = leg({}, { remote: { ...outcome.remote, record }, sentAt: NOW });
      expect(await bluesky.calls.publish.perform(again, scriptedTools({ http }))).not.toMatchObject(
        {
          remote: { foundPicture: "left_out" },
          kind: "prepare_again",
        },
      );
    },
  );

  test("publishing to Bluesky without a record is a defect", async () => {
    await expect(bluesky.calls.publish.perform(leg(), scriptedTools())).rejects.toThrow(
      "not prepared",
    );
  });
});

describe("an unknown outcome at Bluesky", () => {
  const lookUp = (http: NonNullable<Script["http"]>) =>
    bluesky.calls.publish.find(leg({}, { sentAt: NOW }), scriptedTools({ http }));

  test("an unknown outcome at Bluesky is a published post when the record is there", async () => {
    const tools = scriptedTools({ http: { [GET]: answer(200, { uri, cid: "bafy", value: {} }) } });
    expect(await bluesky.calls.publish.find(leg({}, { sentAt: NOW }), tools)).toEqual(published);
    expect(tools.calls[0]?.headers).toBeUndefined();
    expect(tools.calls[0]?.url).toContain(`rkey=${rkey}`);
  });

  test.each([
    answer(400, { error: "RecordNotFound", message: "Could not locate record" }),
    answer(400, { error: "InvalidRequest", message: "Could not locate record: at://x" }),
  ])("a post without a record may be repeated (%#)", async (reply) => {
    expect(await lookUp({ [GET]: reply })).toEqual({ kind: "repeatable" });
  });

  test("an unknown outcome at Bluesky is known not to be published only when no call can be on its way any more", async () => {
    const reply = answer(400, { error: "RecordNotFound", message: "Could not locate record" });
    const after = (seconds: number) => {
      const sentAt = new Date(NOW.getTime() - seconds * 1000);
      return bluesky.calls.publish.find(
        leg({}, { sentAt }),
        scriptedTools({ http: { [GET]: reply } }),
      );
    };
    expect(await after(29)).toEqual({ kind: "repeatable" });
    expect(await after(30)).toEqual({ kind: "absent" });
  });

  test.each([
    lost,
    refusedToConnect,
    htmlPage(502),
    htmlPage(404),
    answer(400, { error: "RepoDeactivated" }),
    answer(400, { error: "InvalidRequest", message: "something else" }),
    answer(200, "ok"),
    answer(200, { uri: `at://${DID}/app.bsky.feed.post/3mbd3542k2222`, value: {} }),
    answer(429, { error: "RateLimitExceeded" }, { "ratelimit-reset": "7" }),
  ])("the outcome is asked again when Bluesky does not say (%#)", async (reply) => {
    expect(await lookUp({ [GET]: reply })).toMatchObject({
      kind: "not_yet",
      failure: { code: "outcome_unknown" },
    });
  });
});
