import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { FollowUp } from "../../src/shared/networks/contract/visible-call.ts";
import type { Finding, Outcome } from "../../src/shared/networks/contract/outcome.ts";
import { networkOf } from "../../src/shared/networks/networks.ts";
import { legStatusOf } from "../../src/shared/publishing/leg.ts";
import { createPost } from "../../src/shared/publishing/publishing.ts";
import { dataOf } from "../setup/factories.ts";
import { aPublisher, unique } from "../setup/publisher.ts";
import { sweepStalledLegs } from "../setup/walks.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { connectionsOf } from "../setup/stored.ts";
import { forTest } from "../setup/for-file.ts";

/** Longer than a lease, and than the pause before the sweep looks. */
const LEASE_MS = 180_000;
const TEXT = "The first comment";
const written = { kind: "done", externalId: "c1", url: "https://social.example/c1" } as const;
const failure = { code: "network_unavailable", networkCode: "100/33" } as const;
const notThereYet = { kind: "try_later", isProof: true, failure } as const;
const lost = { kind: "unknown", failure: { code: "outcome_unknown", networkCode: null } } as const;

/** What the network answers next; then it writes. */
const outcomes: (Outcome | "crash")[] = [];
const lookUps: Finding[] = [];
const calls: { readonly call: FollowUp; readonly status: string }[] = [];

let missing: readonly string[] = [];
const { relay } = useSandboxedRelay();

const mastodon = networkOf("mastodon");
const { calls: real } = mastodon;
beforeAll(() => {
  const comment = {
    perform: async (call: FollowUp) => {
      const [post] = await stored();
      calls.push({ call, status: post?.legs[0] === undefined ? "" : legStatusOf(post.legs[0]) });
      const outcome = outcomes.shift() ?? written;
      if (outcome === "crash") throw new Error("the worker died");
      return outcome;
    },
    missingScopes: () => missing,
    find: () => Promise.resolve(lookUps.shift() ?? written),
  };
  Object.assign(mastodon, { calls: { ...real, comment } });
});
afterAll(() => void Object.assign(mastodon, { calls: real }));
beforeEach(() => {
  for (const list of [outcomes, lookUps, calls]) list.length = 0;
});

const publisher = forTest(() => aPublisher(relay, ["mastodon"]));

async function stored() {
  const { posts } = relay.services.publishing.stores;
  return (await posts.listOfProfile(publisher.owner, { after: undefined, limit: 9 }, () => true))
    .items;
}

/** As a request for a network that takes first comments. */
async function commented(): Promise<string> {
  const { services } = relay;
  const { owner } = publisher;
  const draft = {
    text: unique("With a comment"),
    networks: ["mastodon"],
    mediaUrls: [],
    altTexts: [],
    platformOptions: { mastodon: { firstComment: TEXT } },
    scheduleAt: null,
    externalId: null,
    metadata: {},
  } as const;
  const scope = {
    ...owner,
    requestId: "",
    ip: "",
    caller: { kind: "system", worker: "test" },
    connections: await connectionsOf(services, owner),
    accessVersion: await services.access.partitions.readAccessVersion(owner.platformId),
    areCached: false,
  } as const;
  const key = { idempotencyKey: randomUUID(), draft };
  return (await createPost(services.publishing, scope, key)).post.id;
}

/** Lets time pass until the comment is no longer pending. */
async function ended(postId: string) {
  for (let round = 0; round < 60; round += 1) {
    await relay.drain();
    const post = await publisher.read(postId);
    if (post.legs[0].firstComment?.status !== "pending") return post;
    relay.advance(15_000);
  }
  throw new Error("the comment did not end");
}

describe("a first comment", () => {
  test("a first comment is written after the leg has ended, is free, and is reported", async () => {
    const id = await commented();
    expect((await publisher.read(id)).legs[0].firstComment).toMatchObject({
      status: "pending",
    });
    const post = await ended(id);
    expect(post).toMatchObject({
      status: "succeeded",
      tokens: { charged: 10, reserved: 0 },
      legs: [
        {
          status: "succeeded",
          warnings: [],
          firstComment: {
            status: "succeeded",
            networkCommentId: "c1",
            url: "https://social.example/c1",
            error: null,
          },
        },
      ],
    });
    expect(calls).toMatchObject([
      {
        status: "succeeded",
        call: { text: TEXT, externalId: post.legs[0].networkPostId, isRefused: false },
      },
    ]);
    const events = await publisher.eventTypes(id);
    expect(events.slice(-3).toSorted()).toEqual([
      "comment.succeeded",
      "leg.succeeded",
      "post.succeeded",
    ]);
  });

  test("a first comment is repeated for ten minutes while the network does not show the post, then has failed", async () => {
    outcomes.push(notThereYet, notThereYet, notThereYet);
    expect((await ended(await commented())).legs[0].firstComment.status).toBe("succeeded");
    expect(calls).toHaveLength(4);

    outcomes.push(...Array.from({ length: 99 }, () => notThereYet));
    const before = relay.clock.now().getTime();
    const post = await ended(await commented());
    expect(relay.clock.now().getTime() - before).toBeLessThan(12 * 60_000);
    expect(post).toMatchObject({
      status: "succeeded",
      legs: [
        {
          status: "succeeded",
          error: null,
          warnings: [{ code: "first_comment_failed" }],
          firstComment: { status: "failed", error: { code: "network_unavailable" } },
        },
      ],
    });
    expect(await publisher.eventTypes(post.id)).toContain("comment.failed");
  });

  test("a first comment is not sent again after a lost answer until the network was asked", async () => {
    outcomes.push(lost);
    lookUps.push({ kind: "not_yet", failure: lost.failure, pollAfterSeconds: 5 }, written);
    expect((await ended(await commented())).legs[0].firstComment.status).toBe("succeeded");
    expect(calls).toHaveLength(1);
  });

  test("a first comment whose outcome nobody can tell is unknown, and is not sent again", async () => {
    outcomes.push(lost);
    lookUps.push({ kind: "unknowable", failure: lost.failure });
    const post = await ended(await commented());
    expect(post.legs[0]).toMatchObject({
      status: "succeeded",
      warnings: [{ code: "first_comment_unknown" }],
      firstComment: { status: "unknown", error: { code: "outcome_unknown" } },
    });
    expect(calls).toHaveLength(1);
    expect(await publisher.eventTypes(post.id)).toContain("comment.failed");
  });

  test("a first comment whose worker died over the call is looked up before anything else", async () => {
    outcomes.push("crash");
    const id = await commented();
    await relay.drain().catch(() => undefined);
    relay.advance(LEASE_MS);
    await sweepStalledLegs(relay.services);
    const post = await ended(id);
    expect(post.legs[0].firstComment.status).toBe("succeeded");
    expect(calls).toHaveLength(1);
  });

  test("a first comment for which a permission is missing fails, with a warning", async () => {
    const forbidden = { code: "permission_missing", networkCode: "403" } as const;
    outcomes.push({ kind: "rejected", failure: forbidden, isProof: true });
    const post = await ended(await commented());
    expect(post.legs[0]).toMatchObject({
      status: "succeeded",
      warnings: [{ code: "permission_missing" }],
      firstComment: { status: "failed", error: { code: "permission_missing" } },
    });
    expect(calls).toHaveLength(1);
  });

  test("a first comment of an authorization without the permission is not sent", async () => {
    missing = ["write:comments"];
    const post = await ended(await commented());
    missing = [];
    expect(post.legs[0].firstComment).toMatchObject({
      status: "failed",
      error: {
        code: "feature_unsupported",
        rule: expect.stringMatching(/firstComment.unavailable$/),
      },
    });
    // What validation warns of, the leg warns of by the same code.
    expect(post.legs[0].warnings.map(({ code }: { code: string }) => code)).toEqual([
      "feature_unsupported",
    ]);
    expect(calls).toHaveLength(0);
  });

  test("a first comment that waits for its post is dropped when the post is removed", async () => {
    outcomes.push(...Array.from({ length: 99 }, () => notThereYet));
    const id = await commented();
    await relay.drain();
    const asked = await publisher.call("POST", `/v1/posts/${id}/remove`, { body: {} });
    expect(dataOf(asked).legs[0]).toMatchObject({
      firstComment: { status: "failed", error: { code: "canceled" } },
      removal: { status: "pending" },
    });
    await relay.drain();
    expect((await publisher.read(id)).legs[0].removal.status).toBe("removed");
  });

  test("a first comment of a post without one is null", async () => {
    const { id } = await publisher.accept({ text: unique("Plain"), platforms: ["mastodon"] });
    expect((await ended(id)).legs[0].firstComment).toBeNull();
    expect(calls).toHaveLength(0);
  });
});
