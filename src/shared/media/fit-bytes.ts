import type sharpType from "sharp";
import type { Metadata, Sharp, SharpOptions } from "sharp";
import {
  type FittedImage,
  type ImageTarget,
  MediaFailure,
  READABLE_IMAGES,
} from "../networks/contract/media.ts";
import { refused } from "./dialled.ts";
import type { ImageFacts } from "./file-job.ts";
import { type FitPlan, planFit, STRIPPED_TYPES } from "./fit-plan.ts";
import { factsOfImage, mediaTypeOf } from "./image-facts.ts";
import { withoutMetadata, withoutChunks } from "./metadata.ts";

/** A file of a few hundred bytes can declare an image that fills the memory. */
const PIXELS_MAX = 120_000_000;
/** Largest decoded image when it is decoded line by line. */
const DECODED_BYTES_MAX = 256 * 1024 * 1024;
/** Largest decoded image when the decoder needs all of it at once, or more than eight bits. */
const HELD_BYTES_MAX = 128 * 1024 * 1024;
/** Largest decoded AVIF or HEIC, whose decoder takes eight times as much memory. */
const HEIF_BYTES_MAX = 64 * 1024 * 1024;
const SIZES_MAX = 6;
const QUALITIES = [88, 76] as const;
/** Aims below the limit, since the size of an image follows its area only roughly. */
const MARGIN = 0.92;

type Repair = Extract<FitPlan, { kind: "repair" }>;

/** `isUntouched`: the bytes are those of the file. */
export interface FittedBytes extends FittedImage {
  readonly isUntouched: boolean;
}

/**
 * Makes an image fit the target. What fits stays as it is, byte for byte; the same file and target always give the same
 * bytes. Hostile files may fill the memory or never end, so it runs in a process that can be stopped.
 * @throws MediaFailure
 */
export async function fitBytes(bytes: Uint8Array, target: ImageTarget): Promise<FittedBytes> {
  const fitted = await fit(bytes, target);
  return { ...fitted, isUntouched: fitted.bytes === bytes };
}

async function fit(bytes: Uint8Array, target: ImageTarget): Promise<FittedImage> {
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

/** The decoder's name of each type; a file that the decoder takes for another type is refused. */
const DECODERS: Readonly<Record<string, string>> = {
  "image/jpeg": "jpeg",
  "image/png": "png",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/avif": "heif",
  "image/heic": "heif",
  "image/heif": "heif",
  "image/tiff": "tiff",
};
/** Reads an image's metadata; undefined for a type that can't be read here. */
async function readMetadata(bytes: Uint8Array, contentType: string): Promise<Metadata | undefined> {
  const decoder = DECODERS[contentType];
  if (decoder === undefined) return undefined;
  const image = await openImage(bytes);
  let metadata: Metadata;
  try {
    metadata = await image.metadata();
  } catch (error) {
    // These types can always be read: a file that fails is damaged.
    if (READABLE_IMAGES.includes(contentType)) throw error;
    return undefined;
  }
  if (metadata.format !== decoder)
    throw refused("damaged", `begins as ${contentType} and is ${metadata.format}`);
  const held = decodedBytes(metadata);
  if (held > decodedMax(metadata)) throw refused("pixels", `${held} bytes when decoded`);
  return metadata;
}

/**
 * Refuses an image that can't be made to fit: too large to decode, or damaged. Finds damage only when the sample is the
 * whole file.
 * @throws MediaFailure
 */
export async function refuseUnreadable(
  sample: Uint8Array,
  contentType: string,
  isWhole: boolean,
): Promise<void> {
  try {
    const metadata = await readMetadata(sample, contentType);
    if (isWhole && metadata !== undefined) await decode(sample);
  } catch (error) {
    const failure = error instanceof MediaFailure ? error : undecodable(error);
    const isDamaged = isWhole && READABLE_IMAGES.includes(contentType);
    if (failure.reason === "pixels" || isDamaged) throw failure;
  }
}

const BYTES_OF_DEPTH: Readonly<Record<string, number>> = {
  uchar: 1,
  char: 1,
  ushort: 2,
  short: 2,
  double: 8,
  dpcomplex: 16,
};

function decodedBytes({ width, height, channels, depth }: Metadata): number {
  return width * height * channels * (BYTES_OF_DEPTH[depth] ?? 4);
}

function decodedMax(metadata: Metadata): number {
  if (metadata.format === "heif") return HEIF_BYTES_MAX;
  return isStreamed(metadata) ? DECODED_BYTES_MAX : HELD_BYTES_MAX;
}

/** Returns whether the image is decoded line by line. */
function isStreamed({ format, isProgressive, depth }: Metadata): boolean {
  return (format === "jpeg" || format === "png") && !isProgressive && depth === "uchar";
}

const SAMPLE_EDGE = 256;

/** Returns whether the image has transparent pixels: many have an alpha channel that is opaque throughout. */
async function isClear(bytes: Uint8Array): Promise<boolean> {
  const image = await openImage(bytes);
  const alpha = image.extractChannel("alpha").resize(SAMPLE_EDGE, SAMPLE_EDGE, { fit: "fill" });
  const sample = await alpha.raw().toBuffer();
  return sample.some((value) => value < 255);
}

/** The library's loaders for the types above; its others, for drawings and documents among them, are blocked. */
const LOADERS = ["Jpeg", "Png", "Webp", "Nsgif", "Heif", "Tiff"].map(
  (type) => `VipsForeignLoad${type}Buffer`,
);

type Library = typeof sharpType;

let library: Promise<Library> | undefined;

async function loadLibrary(): Promise<Library> {
  const { default: sharp } = await import("sharp");
  sharp.block({ operation: ["VipsForeignLoad"] });
  sharp.unblock({ operation: LOADERS });
  // One thread each, or two images would use all cores. No cache, since images don't repeat.
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp;
}

/** Loads the image library. Rejects when the installation is broken. */
export function loadImageLibrary(): Promise<unknown> {
  return (library ??= loadLibrary());
}

async function openImage(bytes: Uint8Array): Promise<Sharp> {
  const sharp = await (library ??= loadLibrary());
  const options: SharpOptions = { limitInputPixels: PIXELS_MAX, failOn: "truncated" };
  return sharp(bytes, { ...options, sequentialRead: true });
}

/** Passes on an image that can't be read here, such as BMP, when the network takes its type and size. */
function unread(file: Omit<FittedImage, "repairs">, target: ImageTarget): FittedImage {
  if (!target.types.includes(file.contentType))
    throw refused("type", `${file.contentType} is not taken`);
  if (file.bytes.length > target.bytesMax) throw refused("size", `${file.bytes.length} bytes`);
  return { ...file, repairs: [] };
}

/** Returns the file as it is. Decodes it first, so that damage is reported here and not by the network. */
async function untouched(bytes: Uint8Array, facts: ImageFacts): Promise<FittedImage> {
  await decode(bytes);
  return toFitted(bytes, facts, []);
}

async function decode(bytes: Uint8Array): Promise<void> {
  const image = await openImage(bytes);
  await image.resize(8, 8, { fit: "fill", fastShrinkOnLoad: true }).raw().toBuffer();
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

/** Encodes the image in the best quality that stays below the limit, or in the lowest. */
async function encoded(
  bytes: Uint8Array,
  { width, height }: { readonly width: number; readonly height: number },
  contentType: string,
  bytesMax: number,
): Promise<Uint8Array> {
  // By default the library converts colours to sRGB and leaves out all metadata.
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
  const message = error instanceof Error ? error.message : "";
  return /pixel limit/.test(message)
    ? refused("pixels", `more than ${PIXELS_MAX} pixels`, error)
    : refused("damaged", "the image can't be read", error);
}
