import { randomUUID } from "node:crypto";
import {
  BACKGROUND_LIMITS,
  type Connection,
  createNetworkTools,
} from "../../connections/connections.ts";
import type { NetworkData } from "../../networks/contract/draft.ts";
import type { MediaFile } from "../../networks/contract/media.ts";
import type { NetworkTools } from "../../networks/contract/tools.ts";
import { findAvailable } from "../../networks/lookup.ts";
import { invariant } from "../../runtime/errors.ts";
import type { AccountLease } from "../accounts/account-queue-store.ts";
import type { PublishingDeps } from "../deps.ts";
import { hint } from "../hints.ts";
import type { Call } from "../call.ts";
import { callOf, currentCall, withCall, type Leg } from "../leg.ts";
import { endingAt, givenBack, renewed } from "./leg-attempt.ts";
import { giveBack } from "../../runtime/give-back.ts";
import type { PostToPublish, StoredLeg } from "../post-store.ts";
import type { Post, PostRef } from "../post.ts";
import { createTimelineRecorder, type TimelineRecorder } from "./timeline-recorder.ts";

/** Renewals within one lease, so that one may fail. */
const LEASE_RENEWALS = 3;

/** The account that a leg is worked on for. */
export interface Attached {
  readonly connection: Connection;
  readonly credentials: NetworkData;
}

/**
 * One worker's work on one leg, from the claim to its end. When another worker takes the leg, the next write fails and
 * the work just ends.
 */
export interface LegRun {
  readonly services: PublishingDeps;
  readonly ref: PostRef;
  readonly post: Post;
  /** The version of the post's row when the work began. */
  readonly postEtag: string;
  /** The name of the claim that the worker writes. */
  readonly claimId: string;
  /** The files that the tools have opened. */
  readonly files: OpenedFiles;
  readonly tools: NetworkTools;
  /** When the tools make no more calls, in milliseconds of `performance`. */
  readonly callsEndAt: number;
  readonly timeline: TimelineRecorder;
  /** The leg as it is now, with what the next write will add to it, such as warnings. */
  stored: StoredLeg;
  /** The leg as it was last read or written. */
  written: StoredLeg;
  /** The leg before the claim. */
  readonly before: Leg;
  /** The last write of the leg. Each waits for the one before, whose version it names. */
  writing: Promise<unknown>;
  /** Set while the leg has its account. */
  accountLease: AccountLease | null;
  /** The account that is linked now, once it is usable. */
  attached: Attached | null;
}

/** Returns a worker's work on the leg that it has read, before the claim. */
export function beginRun(
  services: PublishingDeps,
  ref: PostRef,
  stored: StoredLeg,
  { post, etag: postEtag }: PostToPublish,
): LegRun {
  const { network } = stored.leg;
  const attempt = () => (currentCall(run.stored.leg) ?? run.stored.leg.calls[0]).attempts;
  const timeline = createTimelineRecorder(network, attempt, services.clock);
  const limits = { ...BACKGROUND_LIMITS, owner: ref.platformId };
  const files = keepingOpened(createNetworkTools(services.connections, network, limits));
  const run: LegRun = {
    services,
    ref,
    post,
    postEtag,
    timeline,
    files,
    tools: timeline.tools(files.tools),
    callsEndAt: performance.now() + BACKGROUND_LIMITS.totalMs,
    claimId: randomUUID(),
    stored,
    written: stored,
    before: stored.leg,
    writing: Promise.resolve(),
    accountLease: null,
    attached: null,
  };
  return run;
}

/** Returns what the network chooses once for the leg, such as a key of the post; null if that is nothing. */
export function firstRemote({ services, stored: { leg } }: LegRun, now: Date) {
  const [{ key }] = leg.calls;
  return findAvailable(leg.network, services.config.networkApps)?.begin({ key, now }) ?? null;
}

/** Returns the account that the first phase has attached. */
export function attachedOf({ attached }: LegRun): Attached {
  invariant(attached !== null, "a call has no account");
  return attached;
}

/** Notes in the run what its next write makes of the call under way. */
export function note(run: LegRun, change: (call: Call) => Call): void {
  const { leg } = run.stored;
  run.stored = { ...run.stored, leg: withCall(leg, change(callOf(leg))) };
}

/** Writes the leg's next state. Returns false when another worker has taken the leg. */
export function save(run: LegRun, leg: Leg): Promise<boolean> {
  return change(run, () => leg);
}

/** Writes a leg of a worker that will end then: its lease ends at that time, and the sweep checks the post then. */
function writeLast({ services, ref, stored }: LegRun, next: Leg, endsAt: Date) {
  const leg = endingAt(next, endsAt, services.config.publishing.networkTimeoutMs);
  if (leg.leaseUntil === null)
    return services.stores.posts.replaceLegIfUnchanged(ref, leg, stored.etag);
  return services.stores.posts.replaceLegAndCheck(ref, leg, stored.etag, leg.leaseUntil);
}

/** Writes what `next` makes of the leg as it is after the writes before. */
export async function change(run: LegRun, next: (leg: Leg) => Leg): Promise<boolean> {
  const write = async (): Promise<boolean> => {
    const { services, ref, stored } = run;
    const { endsAt } = services.work.stop;
    const leg = next(stored.leg);
    const written = await (endsAt === undefined
      ? services.stores.posts.replaceLegIfUnchanged(ref, leg, stored.etag)
      : writeLast(run, leg, endsAt));
    if (written === undefined) return false;
    run.stored = written;
    run.written = written;
    return true;
  };
  const writing = run.writing.then(write, write);
  run.writing = writing;
  return writing;
}

/**
 * Renews the lease while something runs that may take longer, such as large uploads. If the lease is lost nevertheless,
 * the next write of this worker fails.
 */
export async function renewingLease<T>(run: LegRun, action: () => Promise<T>): Promise<T> {
  const { services } = run;
  const { leaseSeconds } = services.config.publishing;
  let renewing: Promise<unknown> = Promise.resolve();
  const renew = async (): Promise<void> => {
    const now = services.clock.now();
    try {
      const isOurs = await change(run, (leg) => renewed(leg, now, leaseSeconds));
      const { leaseUntil } = run.stored.leg;
      if (isOurs && run.accountLease !== null && leaseUntil !== null)
        await services.stores.accountQueues.extend(run.accountLease, leaseUntil);
    } catch (error) {
      services.log.warn("lease not renewed", { postId: run.ref.postId, error });
    }
  };
  const timer = setInterval(
    () => {
      renewing = renewing.then(renew);
    },
    (leaseSeconds * 1000) / LEASE_RENEWALS,
  );
  try {
    return await action();
  } finally {
    clearInterval(timer);
    await renewing;
  }
}

/** Returns whether a call may take its full time: the lease lasts as long, and the worker goes on for as long. */
export function timeSuffices({ services, stored, callsEndAt }: LegRun): boolean {
  const leaseMs = Date.parse(stored.leg.leaseUntil ?? "") - services.clock.now().getTime();
  const leftMs = Math.min(leaseMs, callsEndAt - performance.now());
  return leftMs > services.config.publishing.networkTimeoutMs;
}

/** How long a leg waits that was given back because storage did not answer: the next worker should find it well again. */
const GIVEN_BACK_SECONDS = 10;

/**
 * Gives back a leg whose worker got no answer from storage, so that the leg need not wait for the lease to end. That is
 * no crash and no retry. A visible call may still take effect, so a leg that was sent waits until the call is over. A
 * leg that had waited before gets no hint: the sweep finds it, later each time, so storage may stay away for long.
 */
export async function giveLegBack(run: LegRun): Promise<void> {
  const { services, ref, stored, claimId } = run;
  const { network } = stored.leg;
  const { clock, config, log } = services;
  const { posts } = services.stores;
  await Promise.allSettled([run.writing]);
  await giveBack({ log, what: "a leg", fields: { postId: ref.postId, network } }, async () => {
    const found = await posts.findLeg(ref, network);
    if (found?.leg.claimId !== claimId) return;
    const { networkTimeoutMs } = config.publishing;
    const back = givenBack(found.leg, clock.now(), GIVEN_BACK_SECONDS, networkTimeoutMs);
    const isFirst = run.before.notBefore === null;
    const written = isFirst
      ? await posts.replaceLegAndCheck(ref, back, found.etag, back.notBefore)
      : await posts.replaceLegIfUnchanged(ref, back, found.etag);
    if (written === undefined) throw new Error("the leg was changed meanwhile");
    if (isFirst) await hint(services, ref, { networks: [network], startAt: back.notBefore });
  });
}

interface OpenedFiles {
  readonly tools: NetworkTools;
  /** Ends open transfers, and frees files held in memory because their servers don't tell their size. */
  close(): Promise<void>;
}

/** Returns tools that keep track of every file they open, so that none stays open after its leg. */
function keepingOpened(tools: NetworkTools): OpenedFiles {
  const files: MediaFile[] = [];
  return {
    tools: {
      ...tools,
      async openMedia(url, limits) {
        const file = await tools.openMedia(url, limits);
        files.push(file);
        return file;
      },
    },
    async close() {
      await Promise.allSettled(files.splice(0).map((file) => file.close()));
    },
  };
}
