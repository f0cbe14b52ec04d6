import { encodeTime } from "ulid";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSandbox, type Sandbox } from "../../sandbox/server.ts";
import type { HttpRequest } from "../../src/shared/runtime/http-call.ts";
import { timeOfId } from "../../src/shared/runtime/ids.ts";
import { DEATHS_APART, IS_LONG } from "../setup/long-check.ts";
import { aPublisher, unique, type Publisher } from "../setup/publisher.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { CONTRACTS } from "../networks/contract/contracts.ts";
import { sandboxSettings } from "../setup/sandbox-accounts.ts";
import { sweepStalledLegs } from "../setup/walks.ts";
import type { FatedCall } from "../model/machine.ts";

/*
 * A removal is asked for while a worker makes the first comment: before each of the worker's writes. The worker lives on,
 * or dies after that write or after a later one.
 */

/** Longer than a lease, and than the pause before the sweep looks. */
const LEASE_MS = 180_000;
const ROUNDS_MAX = 60;
/** More than a worker writes for a comment and a removal. */
const WRITES_MAX = 40;

/** How many comments may be there by what is said of the comment. */
const ENDS = { succeeded: [1], failed: [0], unknown: [0, 1] } as const;

/** What becomes of the first call, in the words of the sandbox. */
const TROUBLES = [
  ["is answered", undefined],
  ["loses its answer", "drop-answer"],
  ["is lost", "drop-before"],
  ["is refused for now", "fail:rate_limited"],
] as const;

let sandbox: Sandbox;
let calm: Relay;
let publisher: Publisher;

/** What was said below the post when it was taken down, and what was called in which order. */
let said: readonly string[] = [];
const called: string[] = [];
/** What the request for the removal was answered; 0 before. */
let status = 0;

function watch({ services }: Relay, isCut: () => boolean): void {
  const { outbound } = services.connections;
  const request = outbound.request.bind(outbound);
  outbound.request = async (asked: HttpRequest) => {
    if (isCut()) return never();
    if (asked.method === "POST" && asked.url.includes("/comments"))
      called.push(status === 0 ? "comment" : "comment after the request");
    if (asked.method === "DELETE") {
      called.push("remove");
      const post = sandbox.posts("facebook").find((one) => asked.url.includes(one.id));
      if (post !== undefined) said = (post.comments ?? []).map(({ text }) => text);
    }
    return request(asked);
  };
}

const never = <T>() => new Promise<T>(() => undefined);

beforeAll(async () => {
  let now = () => Date.now();
  sandbox = await startSandbox({ now: () => now() });
  calm = await startRelay({
    settings: {
      ...sandboxSettings(sandbox, sandbox.url),
      ...CONTRACTS.facebook.settings,
      FACEBOOK_COMMENTS: "true",
    },
  });
  now = () => calm.clock.now().getTime();
  watch(calm, () => false);
  publisher = await aPublisher(calm, ["facebook"]);
});
afterAll(async () => {
  await calm.stop();
  await sandbox.stop();
});

/** A process that counts its writes. */
interface Mortal {
  readonly writes: () => number;
  readonly isDead: () => boolean;
  /** Does what is due, until it dies. */
  work(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a process before one of whose writes something happens, and which dies after one. */
async function aMortal(
  diesAfter: number,
  before: { readonly write: number; readonly run: () => Promise<unknown> },
): Promise<Mortal> {
  let writes = 0;
  let running: Promise<unknown> | undefined;
  const { promise: died, resolve: die } = Promise.withResolvers<void>();
  const isDead = () => writes > diesAfter;
  // What is written beside the work comes in no order that a test could count.
  const isBeside = ({ method, table, rowKeys }: FatedCall) =>
    method === "GET" || table === "ratewindows" || rowKeys.includes("U");
  const relay = await startRelay({
    sameDeploymentAs: calm,
    holdWrite(call) {
      if (isDead()) return never();
      if (isBeside(call) || running !== undefined || writes + 1 < before.write) return undefined;
      running = before.run();
      return running.then(() => undefined);
    },
    tableFault(call) {
      if (isBeside(call)) return isDead() ? "unavailable" : "pass";
      writes += 1;
      if (isDead()) die();
      // The last one before the end had its effect, and was not answered.
      return isDead() ? "lose_answer" : "pass";
    },
  });
  relay.queues.onSend = () => (isDead() ? "lose" : "keep");
  watch(relay, isDead);
  return {
    writes: () => writes,
    isDead,
    async work() {
      const working = relay.drain().then(() => undefined);
      working.catch(() => undefined);
      await Promise.race([died, working]);
      // A write beside the one that is held may be the process's last.
      await running;
    },
    stop: () => relay.stop(),
  };
}

/** Publishes a post whose first comment is still to be made. */
async function published(text: string): Promise<string> {
  const body = {
    text: unique("With a comment"),
    platforms: ["facebook"],
    platformOptions: { facebook: { firstComment: text } },
  };
  const { id } = await publisher.accept(body);
  // The comment is left to the sweep.
  calm.queues.onSend = () => "lose";
  await calm.drain();
  calm.queues.onSend = () => "keep";
  const [leg] = (await publisher.read(id)).legs;
  expect(leg).toMatchObject({ status: "succeeded", firstComment: { status: "pending" } });
  return id;
}

/** Types of the events about a post's comment and removal. */
async function toldOf(postId: string): Promise<string[]> {
  calm.advance(60_000);
  await calm.drain();
  const { platformId, applicationId } = publisher.owner;
  const { events } = calm.services.webhooks.stores;
  // Ids begin with their time, and no event of a post is older than the post.
  const before = `evt_${encodeTime(timeOfId("post", postId), 10)}`;
  const waiting = await events.listPending(platformId, 1_000, "");
  const logged = await events.listAfter(applicationId, before, 1_000);
  const byId = new Map([...waiting, ...logged].map((event) => [event.id, event]));
  return [...byId.values()]
    .filter((event) => event.postId === postId && /^comment|remov/.test(event.type))
    .map(({ type }) => type)
    .toSorted();
}

/**
 * Lets a worker make the comment, and others what it leaves. Returns the writes that it made; they are fewer than
 * `asksAt` where the comment was over before the removal was asked for.
 */
async function run(fault: string | undefined, asksAt: number, endsAfter: number): Promise<number> {
  // What a dead worker held is free by then.
  calm.advance(LEASE_MS);
  const id = await published(unique("First"));
  sandbox.clearFaults();
  if (fault !== undefined) sandbox.fault("facebook", "comment", fault);
  said = [];
  called.length = 0;
  status = 0;
  const ask = async () => {
    ({ status } = await publisher.remove(id));
  };
  const worker = await aMortal(endsAfter, { write: asksAt, run: ask });
  const where = `asked before write ${asksAt}, dead after write ${endsAfter}`;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    calm.advance(LEASE_MS);
    await sweepStalledLegs(calm.services);
    if (worker.isDead()) await calm.drain();
    else await worker.work();
    const [leg] = (await publisher.read(id)).legs;
    if (status === 0 && leg.firstComment.status !== "pending") break;
    if (leg.removal !== null && leg.removal.status !== "pending") break;
  }
  await worker.stop();
  const made = worker.writes();
  if (status === 0) return made;
  const [leg] = (await publisher.read(id)).legs;
  expect([where, status, leg.status, leg.removal?.status]).toEqual([
    where,
    202,
    "succeeded",
    "removed",
  ]);
  expect([where, said]).toEqual([where, said.slice(0, 1)]);
  const before = said.length === 0 ? [] : ["comment"];
  expect([where, called]).toEqual([where, expect.arrayContaining(before)]);
  expect([where, called]).toEqual([
    where,
    expect.not.arrayContaining(["comment after the request"]),
  ]);
  const { firstComment } = leg as { firstComment: { status: keyof typeof ENDS } };
  expect([where, ENDS[firstComment.status]]).toEqual([
    where,
    expect.arrayContaining([said.length]),
  ]);
  const end = firstComment.status === "succeeded" ? "comment.succeeded" : "comment.failed";
  expect([where, await toldOf(id)]).toEqual([where, [end, "leg.removed"]]);
  const { stores } = calm.services.publishing;
  expect(await stores.posts.listOpenWork(publisher.owner.platformId)).toMatchObject({ works: [] });
  return made;
}

describe.each(TROUBLES)("a removal during a first comment that %s", (_, fault) => {
  test(
    "a removal during a first comment is made, and tells the truth of both, whenever it comes and whenever the worker dies",
    { timeout: 300_000 },
    async () => {
      // In the short run the worker of one trouble dies after each write that follows the first one, and those of the others
      // after the one before which it is asked, at every third.
      const isWhole = fault === undefined;
      for (let at = 1; at <= WRITES_MAX; at += isWhole ? 1 : DEATHS_APART) {
        const made = await run(fault, at, Infinity);
        if (made < at) return;
        const last = IS_LONG || (isWhole && at === 1) ? made : at;
        for (let end = at; end <= last; end += 1) await run(fault, at, end);
      }
      throw new Error("the worker did not come to an end");
    },
  );
});
