import { BACKGROUND_LIMITS, createNetworkTools } from "../../connections/connections.ts";
import { isStorable } from "../../networks/contract/bounded.ts";
import type { MediaFile } from "../../networks/contract/media.ts";
import type { NetworkTools } from "../../networks/contract/tools.ts";
import { addressForNetwork, namedFile, openUploaded } from "../../files/files.ts";
import { findAvailable } from "../../networks/networks.ts";
import { invariant } from "../../runtime/errors.ts";
import type { PublishingDeps } from "../deps.ts";
import { currentCall, publishingCall } from "../leg.ts";
import type { PostToPublish, StoredLeg } from "../post-store.ts";
import type { Post, PostRef } from "../post.ts";
import { ClaimedLeg } from "./claimed-leg.ts";
import { createTimelineRecorder, type TimelineRecorder } from "./timeline-recorder.ts";

/** One worker's work on one leg, from the claim to its end. */
export interface LegRun {
  readonly deps: PublishingDeps;
  readonly ref: PostRef;
  readonly post: Post;
  /** The version of the post's row when the work began. */
  readonly postEtag: string;
  readonly claim: ClaimedLeg;
  /** The files that the tools have opened. */
  readonly files: OpenedFiles;
  readonly tools: NetworkTools;
  /** When the tools make no more calls, in milliseconds of `performance`. */
  readonly callsEndAt: number;
  readonly timeline: TimelineRecorder;
}

/** Makes the work of a worker on the leg that it has read, before the claim. */
export function beginRun(
  deps: PublishingDeps,
  ref: PostRef,
  stored: StoredLeg,
  { post, etag: postEtag }: PostToPublish,
): LegRun {
  const { network } = stored.leg;
  const claim = new ClaimedLeg(deps, ref, stored);
  const attempt = () => (currentCall(claim.leg) ?? publishingCall(claim.leg)).attempts;
  const timeline = createTimelineRecorder(network, attempt, deps.clock);
  const limits = { ...BACKGROUND_LIMITS, owner: ref.platformId };
  const files = keepingOpened(
    withUploads(deps, ref, createNetworkTools(deps.connections, network, limits)),
  );
  return {
    deps,
    ref,
    post,
    postEtag,
    claim,
    timeline,
    files,
    tools: timeline.tools(files.tools),
    callsEndAt: performance.now() + BACKGROUND_LIMITS.totalMs,
  };
}

/** Returns what the network chooses once for the leg, such as a key of the post; null if that is nothing. */
export function firstRemote({ deps, claim: { leg } }: LegRun, now: Date) {
  const { key } = publishingCall(leg);
  const begun = findAvailable(leg.network, deps.config.networkApps)?.begin({ key, now });
  invariant(begun === undefined || isStorable(begun), "what a leg begins with is too large");
  return begun ?? null;
}

/** Returns whether a call may take its full time: the lease lasts as long, and the worker goes on for as long. */
export function timeSuffices({ deps, claim, callsEndAt }: LegRun): boolean {
  const leaseMs = Date.parse(claim.leg.leaseUntil ?? "") - deps.clock.now().getTime();
  const leftMs = Math.min(leaseMs, callsEndAt - performance.now());
  return leftMs > deps.config.publishing.networkTimeoutMs;
}

interface OpenedFiles {
  readonly tools: NetworkTools;
  /** Ends open transfers, and frees files held in memory because their servers don't state their size. */
  close(): Promise<void>;
}

/** Returns tools that read files that were uploaded here from storage, with the facts that are stored of them. */
function withUploads(
  { files, config }: PublishingDeps,
  { platformId, profileId }: PostRef,
  tools: NetworkTools,
): NetworkTools {
  const refOfUpload = (url: string) => {
    const fileId = namedFile(config.publicBaseUrl, url);
    return fileId == null ? undefined : { platformId, profileId, fileId };
  };
  return {
    ...tools,
    async openMedia(url, limits) {
      const file = refOfUpload(url);
      return file === undefined
        ? await tools.openMedia(url, limits)
        : await openUploaded(files, file, limits);
    },
    async addressOf(url) {
      const file = refOfUpload(url);
      return file === undefined ? await tools.addressOf(url) : await addressForNetwork(files, file);
    },
    fittedUrl(image) {
      const file = refOfUpload(image.url);
      const named = { ...image, ...(file === undefined ? {} : { file }) };
      return tools.fittedUrl(named);
    },
  };
}

/** Returns tools that track every file they open, so that none stays open after its leg. */
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
