import { fetchFile } from "../fetched-file.ts";
import type { Fetched } from "../fetched-file.ts";
import { graphRefusal } from "../graph/errors.ts";
import type { GraphProblem } from "../graph/errors.ts";
import { pictureFacts, videoFacts } from "../media-facts.ts";
import type { VideoFacts } from "../media-facts.ts";
import type { InstagramShared, StoredFile } from "./state.ts";

/*
 * developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/media has the numbers, and
 * …/instagram-platform/reference/error-codes what is said of a file beyond them.
 */

const IMAGE_BYTES_MAX = 8 * 1024 * 1024;
const STORY_VIDEO_BYTES_MAX = 100_000_000;
/** "File size: 300MB maximum" */
const VIDEO_BYTES_MAX = 300_000_000;
/** "VBR, 25Mbps maximum" */
const BITS_PER_SECOND_MAX = 25_000_000;
/** "4:2:0 chroma subsampling": the profiles of H.264 that are for others. */
const OTHER_CHROMA_PROFILES: readonly (number | null)[] = [122, 244];
const SECONDS = { min: 3, reelMax: 15 * 60, storyMax: 60 };
/** H.264 and HEVC, with AAC or without sound. */
const VIDEO_CODECS = ["avc1", "avc3", "hvc1", "hev1"];
const AUDIO_CODECS = ["mp4a", null];
const FRAME_RATE = { min: 23, max: 60 };
const COLUMNS_MAX = 1920;

/** From 4:5 to 1.91:1. A picture that is out by less than a pixel was rounded by its encoder. */
function isFeedShape(width: number, height: number): boolean {
  return (width + 1) * 5 > height * 4 && (width - 1) * 100 < height * 191;
}

function isPlayable(video: VideoFacts): boolean {
  const { codec, audioCodec, framesPerSecond, width, bitsPerSecond, h264Profile } = video;
  const rate = Math.round(framesPerSecond);
  return (
    VIDEO_CODECS.includes(codec) &&
    AUDIO_CODECS.includes(audioCodec) &&
    rate >= FRAME_RATE.min &&
    rate <= FRAME_RATE.max &&
    width <= COLUMNS_MAX &&
    bitsPerSecond <= BITS_PER_SECOND_MAX &&
    !OTHER_CHROMA_PROFILES.includes(h264Profile)
  );
}

const TOO_LARGE: GraphProblem = {
  message: "The image size is too large.",
  code: 36000,
  subcode: 2207004,
  userTitle: "Image size too large",
  userMessage: "The image is too large to download. It should be less than 8 MiB.",
};
export const WRONG_FORMAT: GraphProblem = {
  message: "The image format is not supported.",
  code: 36001,
  subcode: 2207005,
  userTitle: "Image format not supported",
  userMessage: "The image format is not supported. Supported formats are: JPEG.",
};
const WRONG_RATIO: GraphProblem = {
  message: "The submitted image with aspect ratio cannot be published.",
  code: 36003,
  subcode: 2207009,
  userTitle: "Aspect ratio not supported",
  userMessage: "The aspect ratio must be within the range of 4:5 to 1.91:1.",
};
const TIMED_OUT: GraphProblem = {
  message: "It takes too long to download the media.",
  code: -2,
  subcode: 2207003,
  userTitle: "Timeout",
  userMessage: "It takes too long to download the media.",
};

export function unreachable(url: string): GraphProblem {
  return {
    message: "Only photo or video can be accepted as media type.",
    code: 9004,
    subcode: 2207052,
    userTitle: "Media download has failed.",
    userMessage: `The media could not be fetched from this URL: ${url}`,
  };
}

function fetchProblem(fetched: Exclude<Fetched, { kind: "file" }>, url: string): GraphProblem {
  if (fetched.kind === "too_large") return TOO_LARGE;
  return fetched.kind === "timeout" ? TIMED_OUT : unreachable(url);
}

function isFetchable(url: string): boolean {
  return URL.canParse(url) && /^[!-~]+$/.test(url);
}

/** A JPEG by its content, small enough and of a shape that the feed shows. Refuses anything else at once. */
export async function checkedImage(
  shared: InstagramShared,
  url: string,
  purpose: "feed" | "story",
): Promise<StoredFile> {
  if (!isFetchable(url)) throw graphRefusal(unreachable(url));
  const fetched = await fetchFile(shared, url, IMAGE_BYTES_MAX);
  if (fetched.kind !== "file") throw graphRefusal(fetchProblem(fetched, url));
  const facts = pictureFacts(fetched.bytes);
  if (facts === undefined) throw graphRefusal(unreachable(url));
  if (facts.type !== "jpg") throw graphRefusal(WRONG_FORMAT);
  if (purpose === "feed" && !isFeedShape(facts.width, facts.height))
    throw graphRefusal(WRONG_RATIO);
  const { bytes } = fetched;
  const sha256 = shared.blobs.put(bytes);
  return { kind: "image", mimeType: "image/jpeg", sha256, bytes: bytes.length };
}

export interface CheckedVideo {
  readonly file: StoredFile | null;
  readonly seconds: number;
  /** What the container will end with; videos are looked at after the call was answered. */
  readonly errorSubcode: number | null;
}

/** Fetches a video; what is wrong with it shows later, in the container's status. */
export async function checkedVideo(
  shared: InstagramShared,
  url: string,
  purpose: "reel" | "story",
): Promise<CheckedVideo> {
  const failed = (errorSubcode: number): CheckedVideo => ({ file: null, seconds: 0, errorSubcode });
  if (!isFetchable(url)) throw graphRefusal(unreachable(url));
  const bytesMax = purpose === "story" ? STORY_VIDEO_BYTES_MAX : VIDEO_BYTES_MAX;
  const fetched = await fetchFile(shared, url, bytesMax);
  if (fetched.kind === "too_large") return failed(2207026);
  if (fetched.kind !== "file") return failed(fetched.kind === "timeout" ? 2207003 : 2207052);
  const { bytes } = fetched;
  const facts = videoFacts(bytes);
  if (facts === undefined || !isPlayable(facts)) return failed(2207026);
  const secondsMax = purpose === "story" ? SECONDS.storyMax : SECONDS.reelMax;
  const isTooShortOrLong = facts.seconds < SECONDS.min || facts.seconds > secondsMax;
  const sha256 = shared.blobs.put(bytes);
  return {
    file: { kind: "video", mimeType: "video/mp4", sha256, bytes: bytes.length },
    seconds: facts.seconds,
    errorSubcode: isTooShortOrLong ? 2207026 : null,
  };
}
