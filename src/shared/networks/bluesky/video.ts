import { mediaRejected } from "../contract/media-failed.ts";
import type { MediaFile } from "../contract/media.ts";
import type { LegToPublish, NetworkTools, Rejected, TryLater } from "../contract/network.ts";
import type { Credentials } from "./credentials.ts";
import type { Embed } from "./embeds.ts";
import { videoEmbed } from "./embeds.ts";
import type { Remote, RemoteVideo } from "./state.ts";
import { blobBytesMax } from "./rules.ts";
import { uploadBlob } from "./upload.ts";
import { handOver, lookAtJob } from "./video-service.ts";

export type VideoStep =
  | { readonly kind: "made"; readonly embed: Embed }
  /** `video` is undefined when the next step has to begin with the file again. */
  | {
      readonly kind: "waiting";
      readonly video: RemoteVideo | undefined;
      readonly pollAfterSeconds: number;
    }
  | TryLater
  | Rejected;

interface VideoLeg {
  readonly leg: LegToPublish;
  readonly remote: Remote;
  readonly credentials: Credentials;
}

/**
 * Brings the leg's video to the network: through the video service, so that it plays at once, or straight to the
 * account's server where there is no such service. Straight as well when what the service had made was lost again:
 * it would only answer that it knows the file.
 */
export async function bringVideo(
  { leg, remote, credentials }: VideoLeg,
  { file, alt }: { readonly file: MediaFile; readonly alt: string },
  tools: NetworkTools,
): Promise<VideoStep> {
  const { width, height } = file;
  const shown = { alt, aspectRatio: width && height ? { width, height } : null };
  if (remote.reuploadedAt === undefined) {
    const outcome = await handOver({ credentials, file, name: remote.rkey }, tools);
    switch (outcome.kind) {
      case "blob":
        return { kind: "made", embed: videoEmbed(outcome.blob, shown) };
      case "working": {
        const { jobId, pollAfterSeconds } = outcome;
        return { kind: "waiting", video: { jobId, ...shown }, pollAfterSeconds };
      }
      case "try_later":
      case "rejected":
        return outcome;
      default:
    }
  }
  if (file.size > blobBytesMax(leg.limits))
    return mediaRejected("bluesky.media.size", `${file.size} bytes, past the video service`, 0);
  const media = { bytes: file, contentType: file.contentType };
  const blob = await uploadBlob(media, { credentials, mediaIndex: 0 }, tools);
  return "failure" in blob ? blob : { kind: "made", embed: videoEmbed(blob, shown) };
}

/** One look at a video that the service works on. */
export async function followVideo(video: RemoteVideo, tools: NetworkTools): Promise<VideoStep> {
  const outcome = await lookAtJob(video.jobId, tools);
  switch (outcome.kind) {
    case "blob":
      return { kind: "made", embed: videoEmbed(outcome.blob, video) };
    case "working":
      return { kind: "waiting", video, pollAfterSeconds: outcome.pollAfterSeconds };
    case "try_later":
    case "rejected":
      return outcome;
    default:
      return { kind: "waiting", video: undefined, pollAfterSeconds: 0 };
  }
}
