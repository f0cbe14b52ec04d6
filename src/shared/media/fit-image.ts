import type { Metadata, Sharp, SharpOptions } from "sharp";
import type { FittedImage, ImageTarget, MediaFile, MediaRepair } from "../networks/media.ts";
import { IMAGE_SOURCE_BYTES_MAX, MediaFailure } from "../networks/media.ts";
import { hasChunks, withoutChunks } from "./chunks.ts";
import { refused, tooLarge, unreachable } from "./dialled.ts";
import type { FitPlan, ImageFacts } from "./fit-plan.ts";
import { planFit, STRIPPED_TYPES } from "./fit-plan.ts";
import { factsOfImage, factsOfSample } from "./image-facts.ts";
import { withoutMetadata } from "./jpeg.ts";
import { SAMPLE_BYTES } from "./open-media.ts";
import { mediaTypeOf } from "./media-type.ts";
import { Slots } from "./slots.ts";

/** A few hundred bytes can claim to be a picture that fills the memory. */
const PIXELS_MAX = 120_000_000;
const SECONDS_MAX = 20;
const SIZES_MAX = 6;
const QUALITIES = [88, 76] as const;
/** Aimed below the limit: the size of a picture follows its area only roughly. */
const MARGIN = 0.92;

/** Two at a time: decoding takes memory, and a core each. */
const slots = new Slots(2, 64);

/** Longest PNG that a network may fetch from its own address: longer ones are made anew. */
const SEEN_BYTES_MAX = 1_048_576;

type Repair = Extract<FitPlan, { kind: "repair" }>;

/**
 * Downloads an opened image and makes it fit the target. What fits stays as it is, byte for byte; the same file and
 * target always give the same bytes. At most two at a time per process, each within a bounded time.
 * @throws MediaFailure
 */
export async function fitImage(file: MediaFile, target: ImageTarget): Promise<FittedImage> {
  if (file.size > IMAGE_SOURCE_BYTES_MAX) throw tooLarge(IMAGE_SOURCE_BYTES_MAX);
  const fitted = await slots.run(async () => fitBytes(await readAll(file), target));
  if (fitted === undefined) throw unreachable("too many images at once");
  return fitted;
}

/**
 * What `fitImage` would do to an opened image, as far as its first bytes tell; of a short PNG or WebP, which may tell a
 * place behind the picture, all of them.
 * @throws MediaFailure when it would refuse the image
 */
export async function planImage(
  file: MediaFile,
  target: ImageTarget,
): Promise<readonly MediaRepair[]> {
  if (!file.contentType.startsWith("image/"))
    throw refused("type", `${file.contentType} is no image`);
  if (file.size > IMAGE_SOURCE_BYTES_MAX) throw tooLarge(IMAGE_SOURCE_BYTES_MAX);
  let plan = await planOf(file, SAMPLE_BYTES, target);
  const isMoreToSee = file.size > SAMPLE_BYTES && file.size <= SEEN_BYTES_MAX;
  if (plan.kind === "fits" && isMoreToSee && hasChunks(file.contentType))
    plan = await planOf(file, file.size, target);
  if (plan.kind === "refused") throw refused(plan.reason, plan.message);
  return plan.kind === "fits" ? [] : plan.repairs;
}

async function planOf(file: MediaFile, length: number, target: ImageTarget): Promise<FitPlan> {
  const sample = await file.read(0, Math.min(file.size, length) - 1);
  return planFit(factsOfSample(file, sample), target);
}

async function readAll(file: MediaFile): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of file.chunks()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function fitBytes(bytes: Uint8Array, target: ImageTarget): Promise<FittedImage> {
  const { contentType, ...size } = mediaTypeOf(bytes);
  if (!contentType.startsWith("image/")) throw refused("type", `${contentType} is no image`);
  try {
    const metadata = await readMetadata(bytes, contentType);
    if (metadata === undefined) return unread({ bytes, contentType, ...size }, target);
    const hasAlpha = metadata.hasAlpha && (await isClear(bytes));
    const facts = factsOfImage(contentType, bytes, { ...metadata, hasAlpha });
    const plan = planFit(facts, target);
    if (plan.kind === "refused") throw refused(plan.reason, plan.message);
    return plan.kind === "fits"
      ? await untouched(bytes, facts)
      : await repaired({ bytes, facts, plan }, target);
  } catch (error) {
    throw error instanceof MediaFailure ? error : undecodable(error);
  }
}

/** Types that the library reads: what fails in one of them is damaged. */
const READABLE = /jpeg|png|gif|webp|avif|tiff/;

async function readMetadata(bytes: Uint8Array, contentType: string): Promise<Metadata | undefined> {
  const image = await openImage(bytes);
  try {
    return await image.metadata();
  } catch (error) {
    if (READABLE.test(contentType)) throw error;
    return undefined;
  }
}

const SAMPLE_EDGE = 256;

/** Whether anything shines through: many images have a channel for it and nothing in it. */
async function isClear(bytes: Uint8Array): Promise<boolean> {
  const image = await openImage(bytes);
  const alpha = image.extractChannel("alpha").resize(SAMPLE_EDGE, SAMPLE_EDGE, { fit: "fill" });
  const sample = await alpha.raw().toBuffer();
  return sample.some((value) => value < 255);
}

async function openImage(bytes: Uint8Array): Promise<Sharp> {
  const { default: sharp } = await import("sharp");
  // One thread each, or two images would take all cores; nothing is worth keeping for the next.
  sharp.concurrency(1);
  sharp.cache(false);
  const options: SharpOptions = { limitInputPixels: PIXELS_MAX, failOn: "truncated" };
  return sharp(bytes, { ...options, sequentialRead: true }).timeout({ seconds: SECONDS_MAX });
}

/** BMP for one: left to a network that takes it. */
function unread(file: Omit<FittedImage, "repairs">, target: ImageTarget): FittedImage {
  if (!target.types.includes(file.contentType))
    throw refused("type", `${file.contentType} is not taken`);
  if (file.bytes.length > target.bytesMax) throw refused("size", `${file.bytes.length} bytes`);
  return { ...file, repairs: [] };
}

/** A damaged file is found here, where it can be said, and not by the network. */
async function untouched(bytes: Uint8Array, facts: ImageFacts): Promise<FittedImage> {
  const image = await openImage(bytes);
  await image.resize(8, 8, { fit: "fill", fastShrinkOnLoad: true }).raw().toBuffer();
  return toFitted(bytes, facts, []);
}

interface Repairing {
  readonly bytes: Uint8Array;
  readonly facts: ImageFacts;
  readonly plan: Repair;
}

async function repaired(repairing: Repairing, target: ImageTarget): Promise<FittedImage> {
  const { bytes, facts, plan } = repairing;
  const isPrivacyAlone = plan.repairs.length === 1 && plan.repairs[0] === "metadataRemoved";
  if (isPrivacyAlone && STRIPPED_TYPES.has(facts.contentType)) {
    const stripped = stripOf(facts.contentType, bytes);
    return { ...(await untouched(stripped, facts)), repairs: plan.repairs };
  }
  let frame = { width: plan.width, height: plan.height };
  let { contentType } = plan;
  for (let attempt = 0; attempt < SIZES_MAX; attempt += 1) {
    const made = await encoded(bytes, frame, contentType, target.bytesMax);
    if (made.length <= target.bytesMax) {
      const isSmaller = attempt > 0 && !plan.repairs.includes("resized");
      const repairs = isSmaller ? [...plan.repairs, "resized" as const] : plan.repairs;
      return { ...frame, bytes: made, contentType, repairs };
    }
    if (contentType === "image/png") {
      contentType = "image/jpeg";
      continue;
    }
    const factor = Math.sqrt(target.bytesMax / made.length) * MARGIN;
    const side = (length: number) => Math.max(1, Math.floor(length * factor));
    frame = { width: side(frame.width), height: side(frame.height) };
  }
  throw refused("size", `can't be made smaller than ${target.bytesMax} bytes`);
}

function stripOf(contentType: string, bytes: Uint8Array): Uint8Array {
  return contentType === "image/jpeg" ? withoutMetadata(bytes) : withoutChunks(contentType, bytes);
}

/** In the better quality that stays below the limit, or in the worse one. */
async function encoded(
  bytes: Uint8Array,
  { width, height }: { readonly width: number; readonly height: number },
  contentType: string,
  bytesMax: number,
): Promise<Uint8Array> {
  // Colours go to sRGB, and all metadata is left out, unless the library is told otherwise.
  const frame = async () =>
    (await openImage(bytes)).autoOrient().resize(width, height, { fit: "fill" });
  if (contentType === "image/png") {
    return (await frame()).png({ compressionLevel: 9 }).toBuffer();
  }
  let made: Uint8Array = new Uint8Array();
  for (const quality of QUALITIES) {
    made = await (await frame()).flatten({ background: "#ffffff" }).jpeg({ quality }).toBuffer();
    if (made.length <= bytesMax) break;
  }
  return made;
}

function toFitted(
  bytes: Uint8Array,
  { contentType, width, height }: ImageFacts,
  repairs: FittedImage["repairs"],
): FittedImage {
  return { bytes, contentType, width, height, repairs };
}

function undecodable(error: unknown): MediaFailure {
  const told = error instanceof Error ? error.message : "";
  return /pixel limit/.test(told)
    ? refused("pixels", `more than ${PIXELS_MAX} pixels`, error)
    : refused("damaged", "the image can't be read", error);
}
