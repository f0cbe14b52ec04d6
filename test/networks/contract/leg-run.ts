import { encodeTime } from "ulid";
import { expect } from "vitest";
import { workers } from "../../../src/functions/workers.ts";
import { isBusy } from "../../../src/shared/publishing/leg.ts";
import { timeOfId } from "../../../src/shared/runtime/ids.ts";
import type { PostView } from "../../../src/shared/publishing/read/post-view.ts";
import { dataOf } from "../../setup/factories.ts";
import { unique, type Publisher } from "../../setup/publisher.ts";
import type { VisiblePost } from "./stand-in.ts";
import type { MadeStep, Trouble } from "./wire.ts";
import type { World } from "./world.ts";
import { sweepStalledLegs } from "../../setup/walks.ts";

/** Checks of an hour, for a network that is silent while it works on a file. */
const ROUNDS_MAX = 400;
const SWEEP_MS = 61_000;
/** How long a worker pauses, and how often others look meanwhile. */
const STILL_MS = 600_000;
const LOOK_MS = 20_000;
/** What is told is listed when it is a little while old. */
const SETTLED_MS = 3_000;

/** A way in which a network can be posted to. */
export interface Form {
  /** Fields of the request besides text and platforms. */
  readonly body?: {
    readonly mediaUrls?: readonly string[];
    readonly altTexts?: readonly (string | null)[];
    /** `platformOptions` of the network. */
    readonly options?: object;
  };
  /** The step that makes the post visible, where readers see it only later. */
  readonly sendsBy?: string;
  /** In the text of each post. */
  readonly words?: string;
  /** A revoked access token is replaced by means of another one. */
  readonly isRenewable?: boolean;
  /** The network refuses the same once more. */
  readonly isKnownAgain?: boolean;
  /** The network knows a file again and spares a leg some steps: each leg is to bring one that is new to it. */
  readonly isRemembered?: boolean;
  /** How often its media has to be looked at in vain before it is ready; once when absent. */
  readonly looks?: number;
  /** Where its media's trouble is written, for the stand-in to read; nowhere when absent. */
  readonly magic?: "text" | "altTexts";
  /** What the end user types where the account is linked. */
  readonly as?: Readonly<Record<string, string>>;
}

export interface LegRun {
  readonly leg: PostView["legs"][number];
  readonly post: PostView;
  readonly made: readonly MadeStep[];
  readonly visible: readonly VisiblePost[];
  /** What the wallet has less than before, and what it holds back. */
  readonly paid: { readonly tokens: number; readonly reserved: number };
  /** Types of the events that tell of the post's end. */
  readonly told: readonly string[];
}

/**
 * Ten minutes for which a worker pauses, while another process works. The worker's own time has gone on, too: it may
 * make no further call.
 */
async function standStill({ relay }: World): Promise<void> {
  const other = relay.another();
  for (let passed = 0; passed < STILL_MS; passed += LOOK_MS) {
    relay.advance(LOOK_MS);
    await sweepStalledLegs(other);
    await relay.queues.drain(workers, other);
  }
  const now = performance.now.bind(performance);
  Object.assign(performance, { now: () => now() + STILL_MS });
}

/** Lets time pass as the leg and what follows it ask for it, until nothing is left to do. */
export async function settle(world: World, publisher: Publisher, postId: string): Promise<void> {
  const { relay, network } = world;
  const { platformId, profileId } = publisher.owner;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    await relay.drain().catch((error: unknown) => {
      if (!world.wire.isKilled) throw error;
    });
    const stored = await relay.services.publishing.stores.posts.findLeg(
      { platformId, profileId, postId },
      network,
    );
    if (stored === undefined) throw new Error("the leg is gone");
    const { notBefore } = stored.leg;
    if (!isBusy(stored.leg)) return;
    const waitMs = notBefore === null ? 0 : Date.parse(notBefore) - relay.clock.now().getTime();
    if (waitMs > 0) relay.advance(waitMs + 1);
    else {
      relay.advance(SWEEP_MS);
      await sweepStalledLegs(relay.services);
    }
  }
  throw new Error("the leg did not end");
}

/** Types of what was told about the post's legs and of its end, in order. */
async function toldOf({ relay }: World, publisher: Publisher, postId: string): Promise<string[]> {
  relay.advance(SETTLED_MS);
  const { platformId, applicationId } = publisher.owner;
  const { events } = relay.services.webhooks.stores;
  // Ids begin with their time, and no event of a post is older than the post.
  const before = `evt_${encodeTime(timeOfId("post", postId), 10)}`;
  const waiting = await events.listPending(platformId, 1_000, "");
  const logged = await events.listAfter(applicationId, before, 1_000);
  const byId = new Map([...waiting, ...logged].map((event) => [event.id, event]));
  return [...byId.values()]
    .filter((event) => event.postId === postId && event.type !== "post.processing")
    .map(({ type }) => type)
    .sort();
}

let files = 0;

/** The sample under a name by which it is another file. */
function renewed(url: string): string {
  files += 1;
  return url.replace(/\.(\w+)$/, `-${files}.$1`);
}

/** Does something whose calls are those of one leg, with trouble at one step. */
async function withTrouble<T>(
  world: World,
  trouble: Trouble | undefined,
  run: () => Promise<T>,
): Promise<T> {
  world.wire.begin(trouble);
  world.wire.onStop = () => standStill(world);
  try {
    return await run();
  } finally {
    world.wire.rest();
    Reflect.deleteProperty(performance, "now");
  }
}

export function submit(world: World, publisher: Publisher, text: string, form: Form) {
  const { options, mediaUrls, ...fields } = form.body ?? {};
  const urls = form.isRemembered === true ? mediaUrls?.map(renewed) : mediaUrls;
  const body = urls === undefined ? fields : { ...fields, mediaUrls: urls };
  return publisher.submit({
    text,
    platforms: [world.network],
    ...body,
    ...(options === undefined ? {} : { platformOptions: { [world.network]: options } }),
  });
}

/** Publishes a post of the form, with trouble at one step, and sees it through to its end. */
export async function runLeg(
  world: World,
  form: Form,
  trouble?: Trouble,
  as?: Publisher,
): Promise<LegRun> {
  const publisher = as ?? (await world.publisher(form.as));
  const text = unique(`Contract ${form.words ?? ""}`);
  const wallet = () =>
    world.relay.services.ledger.stores.ledger.readWallet(publisher.owner.platformId);
  const before = await wallet();
  const accepted = await withTrouble(world, trouble, async () => {
    const answered = dataOf(await submit(world, publisher, text, form));
    await settle(world, publisher, answered.id);
    return answered;
  });
  const post = (await publisher.read(accepted.id)) as PostView;
  const [leg] = post.legs;
  if (leg === undefined) throw new Error("the post has no leg");
  const after = await wallet();
  return {
    leg,
    post,
    paid: { tokens: before.balance - after.balance, reserved: after.reserved },
    made: world.wire.made,
    visible: world.wire.visible(),
    told: await toldOf(world, publisher, accepted.id),
  };
}

/** Has a published post removed, with trouble at one step, and sees that through to its end. */
export async function removeLeg(world: World, { post }: LegRun, form: Form, trouble?: Trouble) {
  const publisher = world.lastPublisher(form.as);
  await withTrouble(world, trouble, async () => {
    dataOf(await publisher.remove(post.id));
    await settle(world, publisher, post.id);
  });
  const { legs } = (await publisher.read(post.id)) as PostView;
  return { leg: legs[0], told: await toldOf(world, publisher, post.id) };
}

const NO_ERROR = { code: "", message: "", remediation: "" };

/**
 * What holds of every leg that ended, whatever became of it: what is said to be out is out, once; what is said to have
 * failed is not, unless that is left open; money and events follow the leg.
 */
export function expectTruth({ leg, post, paid, visible, told }: LegRun, where: string): void {
  const isOut = leg.status === "succeeded";
  expect([where, leg.status]).toEqual([where, isOut ? "succeeded" : "failed"]);
  const end = isOut ? "succeeded" : "failed";
  const ends = told.filter((type) => !type.startsWith("comment."));
  expect([where, ends]).toEqual([where, [`leg.${end}`, `post.${end}`]]);
  expect([where, post.status, post.tokens]).toEqual([
    where,
    end,
    { reserved: 0, charged: isOut ? 10 : 0, released: isOut ? 0 : 10 },
  ]);
  expect([where, paid]).toEqual([where, { tokens: isOut ? 10 : 0, reserved: 0 }]);
  expect([where, visible.map(({ edits }) => edits)]).toEqual([where, visible.map(() => 0)]);
  if (isOut) {
    // A network may have several ids for one post, and only one address; none is given where it can't be told.
    const seen = visible.map(({ url }) => (leg.url === null ? null : url));
    expect([where, seen]).toEqual([where, [leg.url]]);
    expect([where, leg.error]).toEqual([where, null]);
    return;
  }
  const { code, message, remediation } = leg.error ?? NO_ERROR;
  expect([where, message]).toEqual([where, expect.stringMatching(/^[A-Z][^{}]+[.]$/)]);
  expect([where, remediation]).toEqual([where, expect.stringMatching(/^[A-Z][^{}]+[.]$/)]);
  expect([where, code, visible.length]).toEqual([
    where,
    code,
    code === "outcome_unknown" ? Math.min(visible.length, 1) : 0,
  ]);
}
