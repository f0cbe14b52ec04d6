import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PDS_START_MS_MAX, startPds } from "../../outside/peers/pds.ts";
import type { Pds, PdsAccount } from "../../outside/peers/pds.ts";
import { casesOf } from "../../setup/long-check.ts";
import {
  aCustomer,
  balanceOf,
  endedPost,
  ledgerOf,
  legOf,
  linkBluesky,
  publish,
  readPost,
  startVisit,
} from "./customer.ts";
import type { Customer } from "./customer.ts";
import { startInterceptor } from "./interceptor.ts";
import type { Fault, Interceptor } from "./interceptor.ts";
import { dataOf, startRelayProcess } from "./relay-process.ts";
import type { RelayProcess } from "./relay-process.ts";
import { startWorld } from "./world.ts";
import type { World } from "./world.ts";
import { forFile } from "../../setup/for-file.ts";

const PDS_HOST = "pds.peers.test";
const INSTANCE = "mastodon.sandbox.test";
const COLLECTION = "app.bsky.feed.post";
const PHOTO = "https://media.sandbox.test/photo.jpg";
const ALT_TEXT = "Ein Korb voller Brötchen 🥖";
const TWO_HOURS_MS = 2 * 60 * 60 * 1000;

let pds: Pds;
let proxy: Interceptor;
let world: World;
let relay: RelayProcess;
let author: PdsAccount;
let friend: PdsAccount;
let customer: Customer;

beforeAll(async () => {
  pds = await startPds({ hostname: PDS_HOST });
  proxy = await startInterceptor(pds.url);
  world = await startWorld({
    [PDS_HOST]: proxy.url,
    "public.api.bsky.app": pds.url,
    "plc.directory": pds.directoryUrl,
  });
  relay = await startRelayProcess({ settings: world.settings });
  [author, friend] = await Promise.all([
    pds.createAccount("baker.test"),
    pds.createAccount("bob.test"),
  ]);
  customer = await aCustomer(relay, world);
}, PDS_START_MS_MAX + 60_000);

afterAll(async () => {
  await Promise.all([relay?.stop(), world?.stop(), proxy?.stop(), pds?.stop()]);
});

interface StoredRecord {
  readonly uri: string;
  readonly cid: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read records field by field and assert what they find
  readonly value: any;
}

/** What the real server holds of the author's posts with the text. */
async function recordsSaying(account: PdsAccount, text: string): Promise<StoredRecord[]> {
  const query = { repo: account.did, collection: COLLECTION, limit: "100" };
  const { body } = await pds.xrpc("com.atproto.repo.listRecords", { query });
  const records = body["records"] as StoredRecord[];
  return records.filter(({ value }) => value.text === text);
}

/** The record behind a leg's at:// URI, asked of the real server by its key. */
async function recordOf(networkPostId: string): Promise<StoredRecord> {
  const [repo = "", collection = "", rkey = ""] = networkPostId.replace("at://", "").split("/");
  const query = { repo, collection, rkey };
  const { status, body } = await pds.xrpc("com.atproto.repo.getRecord", { query });
  expect(status).toBe(200);
  return body as unknown as StoredRecord;
}

function callsTo(method: string): number {
  return proxy.calls.filter(({ path }) => path === `/xrpc/${method}`).length;
}

async function servedPhoto(): Promise<Buffer> {
  const served = await fetch(`${world.sandbox.url}/_sandbox/media/photo.jpg`);
  expect(served.status).toBe(200);
  return Buffer.from(await served.arrayBuffer());
}

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

describe("linking on the hosted page", () => {
  test("an app password and a Mastodon authorization link both accounts and complete the session", async () => {
    const { password } = await pds.createAppPassword(author, "relay");
    const { sessionId, visitor } = await startVisit(relay, customer, ["bluesky", "mastodon"]);
    const bluesky = await visitor.submit("bluesky", {
      identifier: author.handle,
      appPassword: password,
    });
    expect(bluesky.status).toBe(303);
    expect(await visitor.page()).toContain(author.handle);
    const leads = await visitor.submit("mastodon", { instance: INSTANCE });
    expect(leads.status).toBe(303);
    await visitor.authorize(leads.headers.get("location") ?? "");

    const path = `/v1/connect/sessions/${sessionId}`;
    const session = dataOf(await relay.call("GET", path, { bearer: customer.key }));
    expect(session.status).toBe("completed");
    const linked = await relay.call("GET", `/v1/profiles/${customer.profileId}/connections`, {
      bearer: customer.key,
    });
    expect(linked.body.data).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          platform: "bluesky",
          status: "active",
          instanceUrl: `https://${PDS_HOST}`,
          account: expect.objectContaining({ id: author.did, username: author.handle }),
        }),
        expect.objectContaining({ platform: "mastodon", status: "active" }),
      ]),
    );
    expect(JSON.stringify(linked.body)).not.toMatch(/accessJwt|refreshJwt|eyJ[\w-]{8}/);
    expect(JSON.stringify(linked.body)).not.toContain(password);
    expect(await balanceOf(relay, customer)).toMatchObject({ tokenBalance: 990 });
  });
});

describe("one post on a real AT Protocol server and on Mastodon", () => {
  const link = "https://links.sandbox.test/article?a=1&b=2";
  const text = `Grüße 👋🏽 an @bob.test: frische Brötchen unter ${link}. #Bäckerei 🥐`;
  const body = {
    text,
    platforms: ["bluesky", "mastodon"],
    mediaUrls: [PHOTO],
    altTexts: [ALT_TEXT],
    platformOptions: { bluesky: { langs: ["de"] } },
  };
  const idempotencyKey = "the-bakers-first-post";
  let postId: string;

  test("a post is published on both, and its own reading names where", async () => {
    world.sandbox.fault("mastodon", "media", "processing:2");
    const accepted = await publish(relay, customer, body, idempotencyKey);
    expect(accepted.status).toBe(202);
    postId = accepted.body.data.id;
    const post = await endedPost(relay, customer, postId);
    expect(post.status).toBe("succeeded");
    expect(post.tokens).toEqual({ reserved: 0, charged: 20, released: 0 });
    const bluesky = legOf(post, "bluesky");
    const rkey = bluesky.networkPostId.split("/").at(-1);
    expect(bluesky).toMatchObject({ status: "succeeded", attempts: 1, tokensCharged: 10 });
    expect(bluesky.networkPostId).toBe(`at://${author.did}/${COLLECTION}/${rkey}`);
    expect(bluesky.url).toBe(`https://bsky.app/profile/${author.did}/post/${rkey}`);
    const mastodon = legOf(post, "mastodon");
    expect(mastodon).toMatchObject({ status: "succeeded", attempts: 1, tokensCharged: 10 });
    const { pathname, hostname } = new URL(mastodon.url);
    expect(hostname).toBe(INSTANCE);
    const page = await fetch(world.sandbox.url + pathname, {
      headers: { "x-forwarded-host": INSTANCE },
    });
    expect(page.status).toBe(200);
  });

  test("the real server's record is the text, word for word, with every facet on its bytes", async () => {
    const { networkPostId } = legOf(await readPost(relay, customer, postId), "bluesky");
    const { value } = await recordOf(networkPostId);
    expect(value).toMatchObject({ $type: COLLECTION, text, langs: ["de"] });
    const bytes = Buffer.from(value.text, "utf8");
    const shown = value.facets.map(
      ({ index, features }: { index: Record<string, number>; features: unknown[] }) => ({
        covers: bytes.subarray(index["byteStart"], index["byteEnd"]).toString("utf8"),
        features,
      }),
    );
    expect(shown).toEqual([
      {
        covers: "@bob.test",
        features: [{ $type: "app.bsky.richtext.facet#mention", did: friend.did }],
      },
      { covers: link, features: [{ $type: "app.bsky.richtext.facet#link", uri: link }] },
      {
        covers: "#Bäckerei",
        features: [{ $type: "app.bsky.richtext.facet#tag", tag: "Bäckerei" }],
      },
    ]);
  });

  test("the picture there is the very file, with its alt text and its proportions", async () => {
    const { networkPostId } = legOf(await readPost(relay, customer, postId), "bluesky");
    const { value } = await recordOf(networkPostId);
    const photo = await servedPhoto();
    expect(value.embed.$type).toBe("app.bsky.embed.images");
    expect(value.embed.images).toEqual([
      {
        alt: ALT_TEXT,
        aspectRatio: { width: 1200, height: 800 },
        image: {
          $type: "blob",
          mimeType: "image/jpeg",
          size: photo.length,
          ref: { $link: expect.stringMatching(/^bafkrei/) },
        },
      },
    ]);
    const blob = await pds.blob(author.did, value.embed.images[0].image.ref.$link);
    expect(sha256(blob)).toBe(sha256(photo));
  });

  test("on Mastodon the upload was waited for and the status is the same post", async () => {
    const [status, ...others] = world.sandbox.posts("mastodon");
    expect(others).toEqual([]);
    expect(status).toMatchObject({ text, host: INSTANCE, edits: 0 });
    expect(status?.media).toMatchObject([{ alt: ALT_TEXT, sha256: sha256(await servedPhoto()) }]);
    const media = world.sandbox
      .requests()
      .filter(({ path }) => /^\/api\/v[12]\/media\b/.test(path))
      .map(({ method, status: code }) => `${method} ${code}`);
    expect(media).toEqual(["POST 202", "GET 206", "GET 200"]);
  });

  test("the ledger explains every token", async () => {
    const entries = await ledgerOf(relay, customer);
    const lines = entries.map(({ type, operation, tokens }) => `${type} ${operation} ${tokens}`);
    expect(lines).toEqual([
      "credit billing.credit 1000",
      "debit connections.link -5",
      "debit connections.link -5",
      "reserve publish_leg 20",
      "settle publish_leg -10",
      "settle publish_leg -10",
    ]);
    expect(entries.at(-1)).toMatchObject({ balanceAfter: 970, reservedAfter: 0 });
    expect(await balanceOf(relay, customer)).toMatchObject({
      tokenBalance: 970,
      tokenReserved: 0,
      available: 970,
    });
  });

  test("publishing never logs in again", () => {
    expect(callsTo("com.atproto.server.createSession")).toBe(1);
  });
});

describe("when an answer or the process is lost", () => {
  async function publishText(text: string, more: Readonly<Record<string, unknown>> = {}) {
    const body = { text, platforms: ["bluesky"], ...more };
    const accepted = await publish(relay, customer, body);
    expect(accepted.status).toBe(202);
    return String(accepted.body.data.id);
  }

  async function expectPublishedOnce(postId: string, text: string): Promise<StoredRecord> {
    const post = await endedPost(relay, customer, postId);
    const leg = legOf(post, "bluesky");
    expect(leg).toMatchObject({ status: "succeeded", error: null, tokensCharged: 10 });
    expect(post.tokens).toEqual({ reserved: 0, charged: 10, released: 0 });
    const records = await recordsSaying(author, text);
    expect(records.map(({ uri }) => uri)).toEqual([leg.networkPostId]);
    const entries = (await ledgerOf(relay, customer)).filter((entry) => entry.postId === postId);
    expect(entries.map(({ type, tokens }) => [type, tokens])).toEqual([
      ["reserve", 10],
      ["settle", -10],
    ]);
    return records[0] as StoredRecord;
  }

  test.each(
    casesOf<[string, string, Fault, number]>([
      ["after the record was written", "com.atproto.repo.putRecord", "hold_answer", 1],
      ["before the record was written", "com.atproto.repo.putRecord", "hold_request", 0],
      ["in the middle of an upload", "com.atproto.repo.uploadBlob", "hold_answer", 0],
    ]),
  )(
    "a kill -9 %s ends in one record after the restart",
    async (when, method, fault, recordsAtDeath) => {
      const text = `Killed ${when}`;
      const reached = proxy.next(method, fault);
      const postId = await publishText(text, { mediaUrls: [PHOTO], altTexts: [ALT_TEXT] });
      await reached;
      await relay.kill9();
      const before = await recordsSaying(author, text);
      expect(before).toHaveLength(recordsAtDeath);
      await relay.restart();
      const record = await expectPublishedOnce(postId, text);
      for (const { cid } of before) expect(record.cid).toBe(cid);
    },
    180_000,
  );
});

describe("an app password that its owner revoked", () => {
  const baker = forFile(() => pds.createAccount("carol.test"));
  const own = forFile(() => startRelayProcess({ settings: world.settings }));
  const ownCustomer = forFile(() => aCustomer(own, world));

  async function publishText(text: string) {
    const accepted = await publish(own, ownCustomer, { text, platforms: ["bluesky"] });
    expect(accepted.status).toBe(202);
    return await endedPost(own, ownCustomer, accepted.body.data.id);
  }

  test("still posts with the token it has; once that ends, the account must be linked again, and then a retry is published", async () => {
    const first = await pds.createAppPassword(baker, "relay");
    await linkBluesky(own, ownCustomer, { identifier: baker.did, appPassword: first.password });
    await pds.revokeAppPassword(baker, first.name);
    expect((await publishText("The token outlives its password")).status).toBe("succeeded");

    await own.restartLater(TWO_HOURS_MS);
    const text = "The token has ended";
    const failed = await publishText(text);
    expect(failed.status).toBe("failed");
    expect(legOf(failed, "bluesky")).toMatchObject({
      status: "failed",
      // Either the leg or the round that looks after accounts finds it first.
      error: { code: "connection_needs_reauth" },
      retryAvailable: false,
      tokensCharged: 0,
    });
    expect(await statusOfConnection()).toBe("needs_reauth");
    expect(await recordsSaying(baker, text)).toEqual([]);

    const second = await pds.createAppPassword(baker, "relay again");
    await linkBluesky(own, ownCustomer, { identifier: baker.handle, appPassword: second.password });
    expect(await statusOfConnection()).toBe("active");
    expect(legOf(await readPost(own, ownCustomer, failed.id), "bluesky").retryAvailable).toBe(true);
    const retried = await own.call("POST", `/v1/posts/${failed.id}/retry`, {
      bearer: ownCustomer.key,
      headers: { "x-profile-id": ownCustomer.profileId },
      body: {},
    });
    expect(retried.status).toBe(202);
    expect((await endedPost(own, ownCustomer, failed.id)).status).toBe("succeeded");
    expect(await recordsSaying(baker, text)).toHaveLength(1);
    // 1000 − one link, for it is the same account again − two posts.
    expect(await balanceOf(own, ownCustomer)).toMatchObject({
      tokenBalance: 975,
      tokenReserved: 0,
    });
  }, 180_000);

  async function statusOfConnection(): Promise<string> {
    const path = `/v1/profiles/${ownCustomer.profileId}/connections`;
    const [connection] = dataOf(await own.call("GET", path, { bearer: ownCustomer.key }));
    return connection.status;
  }
});
