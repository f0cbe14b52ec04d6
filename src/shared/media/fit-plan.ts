import {
  type ImageTarget,
  type MediaReason,
  type MediaRepair,
  RAW_PHOTOS,
  READABLE_IMAGES,
} from "../networks/contract/media.ts";
import { UPRIGHT } from "./exif.ts";
import type { ImageFacts } from "./file-job.ts";

export type FitPlan =
  | { readonly kind: "fits" }
  /** `width` and `height` are those of the result. */
  | {
      readonly kind: "repair";
      readonly repairs: readonly MediaRepair[];
      readonly width: number;
      readonly height: number;
      readonly contentType: string;
    }
  | { readonly kind: "refused"; readonly reason: MediaReason; readonly message: string };

/** Allows for the rounding in a network's own pixel sizes. */
const RATIO_TOLERANCE = 0.005;

/**
 * Decides how an image has to change so that a network accepts it. Validating a draft uses this with the first bytes of
 * the file, and publishing with all of them.
 */
export function planFit(facts: ImageFacts, target: ImageTarget): FitPlan {
  const refusal = fitRefusal(facts, target);
  if (refusal !== undefined) return { kind: "refused", ...refusal };
  if (plays(facts, target) || !READABLE_IMAGES.includes(facts.contentType))
    return planUnchanged(facts);
  const contentType = resultType(facts, target);
  const taken = frameWithin(facts, target);
  const repairs = repairsOf(facts, target, { contentType, isResized: !isFrameOf(facts, taken) });
  if (repairs.length === 0) return { kind: "fits" };
  const made = madeFrame(taken, target);
  const isResized = !repairs.includes("resized") && !isFrameOf(facts, made);
  return {
    kind: "repair",
    repairs: isResized ? [...repairs, "resized"] : repairs,
    ...made,
    contentType,
  };
}

/** Plans for an image that is never encoded again: it is animated, or of a type that can't be read here. */
function planUnchanged(facts: ImageFacts): FitPlan {
  const { contentType, width, height } = facts;
  if (!facts.isSeparable)
    return { kind: "refused", reason: "damaged", message: "more than a picture, or damaged" };
  const repairs = removalsOf(facts);
  return repairs.length === 0
    ? { kind: "fits" }
    : { kind: "repair", repairs, width, height, contentType };
}

/** Lists what is removed from the file or added to it, independent of changes to the picture itself. */
function removalsOf({ lacksEnd, isPanorama, hasMetadata, hasExtras }: ImageFacts): MediaRepair[] {
  return [
    ...(lacksEnd ? (["completed"] as const) : []),
    ...(isPanorama ? (["shownFlat"] as const) : []),
    ...(hasMetadata ? (["metadataRemoved"] as const) : []),
    ...(hasExtras ? (["extrasRemoved"] as const) : []),
  ];
}

interface FrameSize {
  readonly width: number;
  readonly height: number;
}

function isFrameOf({ width, height }: ImageFacts, frame: FrameSize): boolean {
  return frame.width === width && frame.height === height;
}

/** Reports whether the image is an animation that the network publishes as one. */
function plays({ frames, contentType }: ImageFacts, { types, plays }: ImageTarget): boolean {
  return frames > 1 && plays.includes(contentType) && types.includes(contentType);
}

function isOutside({ width, height }: FrameSize, { ratio }: ImageTarget): boolean {
  if (ratio === undefined || height === 0) return false;
  const shape = width / height;
  return shape < ratio.min * (1 - RATIO_TOLERANCE) || shape > ratio.max * (1 + RATIO_TOLERANCE);
}

function fitRefusal(
  facts: ImageFacts,
  target: ImageTarget,
): { readonly reason: MediaReason; readonly message: string } | undefined {
  const { contentType, width, height, size, frames } = facts;
  const { framesMax = Infinity } = target;
  if (!READABLE_IMAGES.includes(contentType)) {
    if (!target.types.includes(contentType) || !facts.isSeparable)
      return {
        reason: RAW_PHOTOS.includes(contentType) ? "raw" : "imageType",
        message: `${contentType} is not accepted`,
      };
    if (size > target.bytesMax) return { reason: "size", message: `${size} bytes` };
  }
  if (isOutside(facts, target)) return { reason: "ratio", message: `${width} × ${height}` };
  if (!plays(facts, target)) return undefined;
  // Publishing a still picture instead of an animation would change the customer's post.
  if (isLargeGif(facts, target)) return { reason: "pixels", message: `${width} × ${height}` };
  if (frames > framesMax) return { reason: "frames", message: `an animation of ${frames} frames` };
  return size > target.bytesMax
    ? { reason: "animation", message: `an animation of ${size} bytes` }
    : undefined;
}

function isLargeGif({ contentType, width, height }: ImageFacts, target: ImageTarget): boolean {
  return contentType === "image/gif" && width * height > (target.gifPixelsMax ?? Infinity);
}

/** Returns the type of the result: the image's own when it needs no change of type, else JPEG or PNG. */
function resultType(facts: ImageFacts, target: ImageTarget): string {
  const { contentType, size, frames, hasAlpha, isRare, isSeparable } = facts;
  const { types, bytesMax, pngBytesMax = Infinity } = target;
  if (!types.includes(contentType) || size > bytesMax || isLargeGif(facts, target))
    return "image/jpeg";
  if (contentType === "image/png") {
    return hasAlpha || size <= pngBytesMax ? "image/png" : "image/jpeg";
  }
  const isUntouched =
    frames === 1 &&
    isSeparable &&
    !isRare &&
    !isTurned(facts, target) &&
    isFrameOf(facts, frameWithin(facts, target));
  return isUntouched ? contentType : "image/jpeg";
}

/** Reports whether the image has to be turned. Networks that follow the EXIF orientation do so only for JPEG. */
function isTurned({ orientation, contentType }: ImageFacts, target: ImageTarget): boolean {
  return orientation !== UPRIGHT && !(target.turnsByExif && contentType === "image/jpeg");
}

function repairsOf(
  facts: ImageFacts,
  target: ImageTarget,
  { contentType, isResized }: { readonly contentType: string; readonly isResized: boolean },
): MediaRepair[] {
  const isJpeg = contentType === "image/jpeg";
  const found: readonly (readonly [MediaRepair, boolean])[] = [
    ["stilled", facts.frames > 1],
    ["converted", contentType !== facts.contentType || facts.isRare],
    ["flattened", facts.hasAlpha && isJpeg],
    ["rotated", isTurned(facts, target)],
    ["resized", isResized],
    ["recompressed", facts.size > target.bytesMax],
  ];
  return [
    ...found.flatMap(([repair, isNeeded]) => (isNeeded ? [repair] : [])),
    ...removalsOf(facts),
  ];
}

function scaled({ width, height }: FrameSize, factor: number): FrameSize {
  if (factor === 1) return { width, height };
  const side = (length: number) => Math.max(1, Math.floor(length * factor));
  return { width: side(width), height: side(height) };
}

/** Returns the largest frame with the image's aspect ratio that the network accepts. */
function frameWithin({ width, height }: FrameSize, { edgeMax, pixelsMax }: ImageTarget): FrameSize {
  if (width === 0 || height === 0) return { width, height };
  const byEdge = (edgeMax ?? Infinity) / Math.max(width, height);
  const byPixels = Math.sqrt((pixelsMax ?? Infinity) / (width * height));
  return scaled({ width, height }, Math.min(1, byEdge, byPixels));
}

/** Returns the frame of an image that is encoded again. It is as wide as the network shows it. */
function madeFrame(frame: FrameSize, { madeWidth }: ImageTarget): FrameSize {
  if (madeWidth === undefined || frame.width === 0) return frame;
  const width = Math.min(Math.max(frame.width, madeWidth.min), madeWidth.max);
  const height = Math.max(1, Math.round((frame.height * width) / frame.width));
  return width === frame.width ? frame : { width, height };
}
