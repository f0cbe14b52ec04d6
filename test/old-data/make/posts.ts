import type { Relay } from "../../setup/relay.ts";
import { CRASHES_MAX } from "../../../src/shared/posts/leg-steps.ts";
import type { NetworkName } from "../../../src/shared/networks/lookup.ts";
import { dataOf, type Known } from "./known.ts";
import type { OldPublisher } from "./tenants.ts";
import { dieOver, type OldWorld } from "./world.ts";

export const MINUTE = 60_000;
const ROUNDS_MAX = 60;
const ALL: readonly NetworkName[] = ["linkedin", "facebook", "instagram", "bluesky", "mastodon"];
const photo = {
  mediaUrls: ["https://media.sandbox.test/portrait.jpg"],
  altTexts: ["A loaf of bread"],
};
/** The calls after which readers see a post. */
const VISIBLE: Readonly<Record<NetworkName, RegExp>> = {
  facebook: /\/(feed)(\?|$)/,
  instagram: /\/media_publish(\?|$)/,
  linkedin: /\/rest\/posts(\?|$)/,
  bluesky: /(createRecord|applyWrites|putRecord)(\?|$)/,
  mastodon: /\/api\/v1\/statuses(\?|$)/,
};

interface Draft {
  readonly text: string;
  readonly platforms: readonly NetworkName[];
  readonly [field: string]: unknown;
}

/** Submits posts and notes under which name the test finds them. */
export class Posts {
  readonly #world: OldWorld;
  readonly #known: Known;

  constructor(world: OldWorld, known: Known) {
    this.#world = world;
    this.#known = known;
  }

  async submit(name: string, publisher: OldPublisher, draft: Draft, relay = this.#world.relay) {
    const idempotencyKey = `old-data-${name}`;
    const body = { externalId: `erp-${name}`, metadata: { campaign: name }, ...draft };
    const answer = await relay.call("POST", "/v1/posts", {
      key: publisher.key,
      headers: { ...publisher.headers, "idempotency-key": idempotencyKey },
      body,
    });
    const { id } = dataOf(answer);
    this.#known.posts[name] = {
      id,
      profileId: publisher.profile.id,
      idempotencyKey,
      body: { ...body },
    };
    return String(id);
  }

  /** Its messages are lost, as they may be. */
  async submitUnheard(name: string, publisher: OldPublisher, draft: Draft): Promise<string> {
    const { queues } = this.#world.relay;
    queues.onSend = () => "lose";
    try {
      return await this.submit(name, publisher, draft);
    } finally {
      queues.onSend = () => "keep";
    }
  }

  async read({ key, headers }: OldPublisher, id: string) {
    return dataOf(await this.#world.relay.call("GET", `/v1/posts/${id}`, { key, headers }));
  }

  async retry({ key, headers }: OldPublisher, id: string): Promise<void> {
    dataOf(await this.#world.relay.call("POST", `/v1/posts/${id}/retry`, { key, headers }));
  }

  async settle(publisher: OldPublisher, id: string, relay = this.#world.relay): Promise<void> {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      await relay.drain();
      const { status } = await this.read(publisher, id);
      if (status !== "processing") return;
      await this.#world.runTimer("sweep-stalled-work", relay);
      await relay.drain();
      relay.advance(MINUTE);
    }
    throw new Error(`${id} did not end`);
  }

  hint({ owner }: OldPublisher, postId: string, networks: readonly NetworkName[]) {
    const { platformId, profileId } = owner;
    return { v: 1, platformId, profileId, postId, networks };
  }
}

async function expectStatus(posts: Posts, of: OldPublisher, id: string, status: string) {
  const post = await posts.read(of, id);
  if (post.status !== status) throw new Error(`${status} expected: ${JSON.stringify(post)}`);
}

/** Posts that have come to their end. `florist` is alone on its Mastodon account. */
export async function endedPosts(
  world: OldWorld,
  posts: Posts,
  by: { readonly bakery: OldPublisher; readonly florist: OldPublisher },
): Promise<void> {
  const { bakery, florist } = by;
  const { relay, sandbox } = world;
  const end = async (
    name: string,
    of: OldPublisher,
    { status, ...draft }: Draft & { status: string },
  ) => {
    const id = await posts.submit(name, of, draft);
    await posts.settle(of, id);
    await expectStatus(posts, of, id, status);
    return id;
  };
  await end("succeeded", bakery, {
    text: "Bread of the day",
    platforms: ALL,
    ...photo,
    status: "succeeded",
  });
  sandbox.fault("linkedin", "*", "fail:content_rejected", 1);
  await end("partial", bakery, {
    text: "Half of the bread",
    platforms: ["linkedin", "bluesky"],
    status: "partial",
  });
  sandbox.clearFaults();
  await end("failedForGood", florist, {
    text: "Refused [fail:content_rejected]",
    platforms: ["mastodon"],
    status: "failed",
  });
  // For every attempt of both.
  sandbox.fault("mastodon", "statuses", "fail:network_unavailable", 12);
  const away = { platforms: ["mastodon"] as const, status: "failed" };
  await end("failedForNow", florist, { ...away, text: "Tulips when the network is back" });
  const retried = await end("retried", florist, { ...away, text: "Roses at the second go" });
  sandbox.clearFaults();
  await posts.retry(florist, retried);
  await posts.settle(florist, retried);
  await expectStatus(posts, florist, retried, "succeeded");
  await end("warned", florist, {
    text: "With repairs",
    platforms: ["mastodon"],
    mediaUrls: ["https://media.sandbox.test/animation.gif"],
    altTexts: ["Moving"],
    status: "succeeded",
  });

  const soon = new Date(relay.clock.now().getTime() + MINUTE).toISOString();
  const fired = await posts.submit("fired", florist, {
    text: "Out on time",
    platforms: ["mastodon"],
    scheduleAt: soon,
  });
  relay.advance(MINUTE + 1);
  await world.runTimer("fire-due-posts");
  await posts.settle(florist, fired);
  await expectStatus(posts, florist, fired, "succeeded");

  const scheduleAt = new Date(relay.clock.now().getTime() + 600 * MINUTE).toISOString();
  const canceled = await posts.submit("canceled", florist, {
    text: "Never mind",
    platforms: ["mastodon"],
    scheduleAt,
  });
  const { key, headers } = florist;
  dataOf(await relay.call("DELETE", `/v1/posts/${canceled}`, { key, headers }));
  await expectStatus(posts, florist, canceled, "canceled");
}

/** Legs whose workers died over them again and again, after the call: nobody knows what became of it. */
export async function unknownPosts(
  world: OldWorld,
  posts: Posts,
  of: OldPublisher,
): Promise<string> {
  const { relay } = world;
  const ids: string[] = [];
  for (const name of ["unknown", "resending"]) {
    const id = await posts.submitUnheard(name, of, {
      text: `Who knows: ${name}`,
      platforms: ["mastodon"],
    });
    world.dieAt(({ url }) => (VISIBLE.mastodon.test(url) ? "before" : undefined));
    const message = posts.hint(of, id, ["mastodon"]);
    await dieOver(world, "publish-legs", message);
    // Every look at what became of it ends its worker, too.
    world.dieAt(() => "before");
    for (let life = 1; life < CRASHES_MAX; life += 1) {
      relay.advance(121_000);
      await dieOver(world, "publish-legs", message);
    }
    world.dieAt(undefined);
    relay.advance(121_000);
    const { workers } = await import("../../../src/functions/workers.ts");
    await workers.find(({ queue }) => queue === "publish-legs")?.handle(relay.services, message);
    await expectStatus(posts, of, id, "failed");
    ids.push(id);
    await relay.drain();
  }
  return ids[1] ?? "";
}

/** Posts that are scheduled: for later, moved, missed by a timer that stood still, and soon. */
export async function scheduledPosts(
  world: OldWorld,
  posts: Posts,
  of: OldPublisher,
): Promise<void> {
  const { relay } = world;
  const inMs = (ms: number) => new Date(relay.clock.now().getTime() + ms).toISOString();
  const platforms = ["mastodon"] as const;
  await posts.submitUnheard("missed", of, {
    text: "Should be out",
    platforms,
    scheduleAt: inMs(5 * MINUTE),
  });
  relay.advance(8 * MINUTE);
  await posts.submit("scheduledLater", of, {
    text: "Much later",
    platforms: ["mastodon"],
    scheduleAt: inMs(7 * 24 * 60 * MINUTE),
    ...photo,
  });
  const moved = await posts.submit("moved", of, {
    text: "Moved",
    platforms,
    scheduleAt: inMs(20 * MINUTE),
  });
  const { key, headers } = of;
  const body = { text: "Moved and said otherwise", scheduleAt: inMs(40 * MINUTE) };
  dataOf(await relay.call("PATCH", `/v1/posts/${moved}`, { key, headers, body }));
}

export async function soonPosts(world: OldWorld, posts: Posts, of: OldPublisher): Promise<void> {
  const at = (ms: number) => new Date(world.relay.clock.now().getTime() + ms).toISOString();
  await posts.submit("scheduledSoon", of, {
    text: "In a minute",
    platforms: ["mastodon"],
    scheduleAt: at(60_000),
  });
  // Of this one the timer sends the hint.
  await posts.submit("scheduledNext", of, {
    text: "In two minutes",
    platforms: ["mastodon"],
    scheduleAt: at(110_000),
  });
}

export interface OpenBy {
  readonly bakery: OldPublisher;
  /** Each alone on its Mastodon account. */
  readonly florist: OldPublisher;
  readonly cobbler: OldPublisher;
  readonly tailor: OldPublisher;
  readonly crier: OldPublisher;
}

/** A post that all networks show by now, and whose workers died before they wrote it down. */
export async function sentLegs(world: OldWorld, posts: Posts, of: OldPublisher): Promise<void> {
  const postId = await posts.submitUnheard("sentAndLost", of, {
    text: "It went out and nobody heard of it",
    platforms: ALL,
    ...photo,
  });
  for (const network of ALL) {
    world.dieAt(({ method, url }) =>
      method === "POST" && VISIBLE[network].test(url) ? "after" : undefined,
    );
    await dieWhenReady(world, posts, { of, postId, network });
  }
  world.dieAt(undefined);
}

/** Legs that wait: for their next attempt, and for media that the network still works on. Nothing passes after these. */
export async function waitingLegs(world: OldWorld, posts: Posts, by: OpenBy): Promise<void> {
  world.sandbox.fault("mastodon", "*", "fail:rate_limited", 1);
  await posts.submit("waitingForRetry", by.florist, {
    text: "Slow down",
    platforms: ["mastodon"],
  });
  await world.relay.drain();
  world.sandbox.clearFaults();
  await posts.submit("polling", by.crier, {
    text: "Still being worked on",
    platforms: ["mastodon"],
    mediaUrls: ["https://media.sandbox.test/clip.mp4"],
    altTexts: ["A clip [processing:3]"],
  });
  await world.relay.drain();
}

/** Legs in the hands of workers that died before the call, and one in line behind an account that is taken. */
export async function heldLegs(world: OldWorld, posts: Posts, by: OpenBy): Promise<void> {
  const { bakery, cobbler, tailor } = by;
  const unsent = await posts.submitUnheard("markedAndUnsent", cobbler, {
    text: "Marked and never sent",
    platforms: ["mastodon"],
  });
  world.dieAt(({ url }) => (VISIBLE.mastodon.test(url) ? "before" : undefined));
  await dieOver(world, "publish-legs", posts.hint(cobbler, unsent, ["mastodon"]));
  const claimed = await posts.submitUnheard("claimed", tailor, {
    text: "Died over the picture",
    platforms: ["mastodon"],
    ...photo,
  });
  world.dieAt(({ url }) => (/\/media/.test(url) ? "before" : undefined));
  await dieOver(world, "publish-legs", posts.hint(tailor, claimed, ["mastodon"]));
  world.dieAt(undefined);
  await posts.submit("inLine", bakery, { text: "In line", platforms: ["facebook", "bluesky"] });
  await world.relay.drain();
}

async function dieWhenReady(
  world: OldWorld,
  posts: Posts,
  leg: { readonly of: OldPublisher; readonly postId: string; readonly network: NetworkName },
): Promise<void> {
  const message = posts.hint(leg.of, leg.postId, [leg.network]);
  for (let look = 0; look < 12; look += 1) {
    try {
      await dieOver(world, "publish-legs", message);
      return;
    } catch {
      world.relay.advance(6_000);
    }
  }
  const post = await posts.read(leg.of, leg.postId);
  throw new Error(`no worker ended over ${leg.network}: ${JSON.stringify(post.legs)}`);
}

/** Accepted, and their messages wait in the queue. */
export async function pendingPosts(
  posts: Posts,
  by: OpenBy,
  resending: { readonly of: OldPublisher; readonly postId: string },
): Promise<void> {
  await posts.submit("pending", by.bakery, {
    text: "Just accepted",
    platforms: ["bluesky", "mastodon"],
    ...photo,
  });
  await posts.submit("pendingAlone", by.florist, {
    text: "Tulips once more",
    platforms: ["mastodon"],
  });
  await posts.retry(resending.of, resending.postId);
}
