import type sharpType from "sharp";
import type { Metadata, Sharp, SharpOptions } from "sharp";
import {
  type FittedImage,
  type ImageTarget,
  IMAGE_SOURCE_BYTES_MAX,
  MediaFailure,
  type MediaReason,
  type MediaRepair,
  READABLE_IMAGES,
} from "../networks/contract/media.ts";
import { contentTypeOf } from "./content-type.ts";
import { mediaRefusal } from "./media-request.ts";
import type { ImageFacts } from "./file-job.ts";
import { type FitPlan, planFit } from "./fit-plan.ts";
import { collectDecoders, heifAsTiff, heifFacts, isCutHeif, isHeif } from "./heif-picture.ts";
import { factsOfImage } from "./image-facts.ts";
import { withEnd } from "./missing-end.ts";
import { jpegCoding } from "./jpeg-parts.ts";
import { partialFrame } from "./gif-parts.ts";
import { pictureParts } from "./picture-parts.ts";
import { shownPixels, statedColors, type StatedColors } from "./stated-colors.ts";
import { screenPixels } from "./tiff-coding.ts";
import { isTiff, tiffContent, type TiffContent } from "./tiff-content.ts";

/** A file of a few hundred bytes can declare an image that fills the memory. */
const PIXELS_MAX = 120_000_000;
/** Maximum size of the decoded image when it is decoded line by line. */
const DECODED_BYTES_MAX = 256 * 1024 * 1024;
/** Maximum size of the decoded image when the decoder needs all of it, or more than eight bits per channel. */
const HELD_BYTES_MAX = 128 * 1024 * 1024;
/** Maximum size of a decoded AVIF. Its decoder takes eight times as much memory. */
const HEIF_BYTES_MAX = 64 * 1024 * 1024;
const SIZES_MAX = 6;
const QUALITIES = [88, 76] as const;
/** For the best coding, the encoder of JPEG holds six bytes a pixel. */
const OPTIMISED_PIXELS_MAX = 30_000_000;
/** The target is below the limit, since the size of an image follows its area only roughly. */
const MARGIN = 0.92;

type Repair = Extract<FitPlan, { kind: "repair" }>;

/**
 * Makes an image fit the target. An image that fits stays unchanged, byte for byte. The same file and target always
 * give the same bytes. A hostile file may fill the memory or never end, so this runs in a process that can be stopped.
 * @throws MediaFailure
 */
export async function fitBytes(given: Uint8Array, target: ImageTarget): Promise<FittedImage> {
  const contentType = contentTypeOf(given);
  if (!contentType.startsWith("image/")) throw mediaRefusal("type", `${contentType} is no image`);
  try {
    let [bytes, lacksEnd] = [given, false];
    let known: ImageFacts;
    if (isHeif(contentType)) {
      known = await heifFacts({ contentType, size: given.length }, given);
      bytes = await heifAsTiff(given, statedColors(contentType, given));
      collectDecoders();
    } else {
      ({ bytes, lacksEnd } = await completed(given, contentType));
      const metadata = await readMetadata(bytes, contentType);
      known = factsOfImage({ contentType, bytes, size: bytes.length, metadata });
    }
    const hasAlpha = known.hasAlpha && (await isClear(bytes));
    const facts = { ...known, hasAlpha, lacksEnd };
    const plan = planFit(facts, target);
    if (plan.kind === "refused") throw mediaRefusal(plan.reason, plan.message);
    return plan.kind === "fits"
      ? await untouched(bytes, facts)
      : await repaired(bytes, facts, plan, target);
  } catch (error) {
    throw error instanceof MediaFailure ? error : undecodableImage(error);
  }
}

/** Reads an image's metadata. The result is undefined for a type that can't be read here. */
async function readMetadata(bytes: Uint8Array, contentType: string): Promise<Metadata | undefined> {
  if (!isReadable(contentType)) return undefined;
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (contentType === "image/jpeg" && jpegCoding(file) === "other")
    throw mediaRefusal("imageCoding", "a JPEG of rare coding");
  const content = await tiffIn(bytes);
  if (content?.rawType != null) throw mediaRefusal("raw", content.rawType);
  if (content?.coding?.kind === "rare") throw mediaRefusal("imageCoding", content.coding.what);
  const read = await (await openImage(bytes)).metadata();
  // The library counts pages only, and a thumbnail may be in a directory below a page.
  const isPartial = contentType === GIF && partialFrame(bytes) !== undefined;
  const metadata =
    content === undefined
      ? { ...read, hasAlpha: read.hasAlpha || isPartial }
      : {
          ...read,
          pages: Math.max(read.pages ?? 1, content.count),
          // What the library takes for transparency may be a selection that a program has saved.
          hasAlpha: read.hasAlpha && content.coding?.kind !== "extra",
        };
  const decoder = contentType === "image/avif" ? "heif" : contentType.slice("image/".length);
  if (metadata.format !== decoder)
    throw mediaRefusal("damaged", `begins as ${contentType} and is ${metadata.format}`);
  const held = decodedBytes(metadata);
  if (held > decodedMax(metadata)) throw mediaRefusal("pixels", `${held} bytes when decoded`);
  return metadata;
}

/**
 * Adds the end marker to a picture that lacks nothing else. Then all its lines are decoded, since the library can't
 * report missing data any more once a marker follows it, except as a warning.
 * @throws Error when more is missing
 */
async function completed(
  bytes: Uint8Array,
  contentType: string,
): Promise<{ readonly bytes: Uint8Array; readonly lacksEnd: boolean }> {
  const ended = withEnd(contentType, bytes);
  if (ended === undefined) return { bytes, lacksEnd: false };
  const { width, height } = (await readMetadata(ended, contentType)) ?? { width: 0, height: 0 };
  const image = await openImage(ended, { failOn: "warning" });
  await image
    .extract({ left: 0, top: height - 1, width, height: 1 })
    .raw()
    .toBuffer();
  return { bytes: ended, lacksEnd: true };
}

const GIF = "image/gif";
/** Longer images are not decoded to find damage, because reading facts has to be fast. */
const CHECKED_BYTES_MAX = 131_072;
/** Larger images with an alpha channel count as transparent until they are published. */
const CLEAR_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Reads the facts of an image from its first bytes or all of them. Refuses one that can't be made to fit, because it is
 * too large to decode or damaged. Damage is only found in a short file of which all bytes are known.
 * @throws MediaFailure
 */
export async function readImage(
  { contentType, size: stated }: Pick<ImageFacts, "contentType" | "size">,
  given: Uint8Array,
): Promise<ImageFacts> {
  const isWhole = given.length === stated;
  const { bytes, lacksEnd } = isWhole
    ? await completed(given, contentType)
    : { bytes: given, lacksEnd: false };
  const size = isWhole ? bytes.length : stated;
  const isChecked = isWhole && size <= CHECKED_BYTES_MAX;
  let metadata: Metadata | undefined;
  try {
    if (isHeif(contentType)) {
      const facts = await heifFacts({ contentType, size }, bytes);
      const isLight = facts.width * facts.height * 4 <= CLEAR_BYTES_MAX;
      if (!isWhole || !isLight || !(isChecked || facts.hasAlpha)) return facts;
      const pixels = await heifAsTiff(bytes, undefined);
      return facts.hasAlpha ? { ...facts, hasAlpha: await isClear(pixels) } : facts;
    }
    metadata = await readMetadata(bytes, contentType);
    if (isChecked && metadata !== undefined) await decodeImage(bytes);
  } catch (error) {
    const failure = error instanceof MediaFailure ? error : undecodableImage(error);
    const isCut = isCutHeif(failure) && size <= IMAGE_SOURCE_BYTES_MAX;
    if (CERTAIN.has(failure.reason) || isChecked || isCut) throw failure;
  }
  const facts = { ...factsOfImage({ contentType, bytes, size, metadata }), lacksEnd };
  const isLight = metadata !== undefined && decodedBytes(metadata) <= CLEAR_BYTES_MAX;
  if (!facts.hasAlpha || !isWhole || !isLight) return facts;
  return { ...facts, hasAlpha: await isClear(bytes).catch(() => true) };
}

/** Reasons that the first bytes of an image show. */
const CERTAIN: ReadonlySet<MediaReason | null> = new Set(["pixels", "raw", "imageCoding"]);

const isReadable = (contentType: string) => READABLE_IMAGES.includes(contentType);

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
  // Whether the image is decoded line by line.
  return (metadata.format === "jpeg" || metadata.format === "png") &&
    !metadata.isProgressive &&
    metadata.depth === "uchar"
    ? DECODED_BYTES_MAX
    : HELD_BYTES_MAX;
}

const SAMPLE_EDGE = 256;

/** Reports whether any pixel is transparent. Many images have an alpha channel that is opaque throughout. */
async function isClear(bytes: Uint8Array): Promise<boolean> {
  if (contentTypeOf(bytes) === GIF && partialFrame(bytes) !== undefined) return true;
  const image = await openImage(bytes);
  const alpha = image.extractChannel("alpha").resize(SAMPLE_EDGE, SAMPLE_EDGE, { fit: "fill" });
  const sample = await alpha.raw().toBuffer();
  return sample.some((value) => value < 255);
}

/** The library's loaders for the types above. All others are blocked, among them those for drawings and documents. */
const LOADERS = ["Jpeg", "Png", "Webp", "Nsgif", "Heif", "Tiff"].map(
  (type) => `VipsForeignLoad${type}Buffer`,
);

type ImageLibrary = typeof sharpType;

let library: Promise<ImageLibrary> | undefined;

async function loadSharp(): Promise<ImageLibrary> {
  const { default: sharp } = await import("sharp");
  sharp.block({ operation: ["VipsForeignLoad"] });
  sharp.unblock({ operation: LOADERS });
  // One thread per image, because two images would otherwise use all cores. No cache, because images don't repeat.
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp;
}

export function loadImageLibrary(): Promise<unknown> {
  return (library ??= loadSharp());
}

const BRAND_AT = 8;

/** Gives an animated AVIF the brand of a still one, the only one that the library reads. It reads the first picture. */
function branded(bytes: Uint8Array): Uint8Array {
  if (Buffer.from(bytes.subarray(0, BRAND_AT + 4)).indexOf("ftypavis") !== 4) return bytes;
  const copy = Buffer.from(bytes);
  copy.write("avif", BRAND_AT);
  return copy;
}

/** Reads what a TIFF holds, as far as its bytes are known. Undefined for files of other types. */
async function tiffIn(bytes: Uint8Array): Promise<TiffContent | undefined> {
  if (!isTiff(bytes)) return undefined;
  const read = (first: number, last: number) => Promise.resolve(bytes.subarray(first, last + 1));
  return await tiffContent(bytes, bytes.length, read);
}

async function openImage(
  bytes: Uint8Array,
  { failOn = "truncated", ignoreIcc = false }: Pick<SharpOptions, "failOn" | "ignoreIcc"> = {},
): Promise<Sharp> {
  const sharp = await (library ??= loadSharp());
  const common = { limitInputPixels: PIXELS_MAX, sequentialRead: true } as const;
  const tiff = await tiffIn(bytes);
  if (tiff === undefined) return sharp(branded(bytes), { ...common, failOn, ignoreIcc });
  const { page, subIfd } = tiff.picture;
  const isPatched = tiff.coding?.kind === "colors" && tiff.asRgb !== undefined;
  return sharp(isPatched ? replaced(bytes, tiff.asRgb) : bytes, {
    ...common,
    page,
    ...(subIfd < 0 ? {} : { tiff: { subifd: subIfd } }),
    // Below this, strips that can't be decoded become black.
    failOn: failOn === "truncated" ? "error" : failOn,
    ignoreIcc: ignoreIcc || isPatched,
  });
}

/** Returns a copy of the file in which some bytes are others. */
function replaced(file: Uint8Array, { at, bytes }: NonNullable<TiffContent["asRgb"]>): Uint8Array {
  const copy = Buffer.from(file);
  copy.set(bytes, at);
  return copy;
}

/** Returns the file unchanged. It is decoded first, so that damage is reported here and not by the network. */
async function untouched(bytes: Uint8Array, facts: ImageFacts): Promise<FittedImage> {
  if (isReadable(facts.contentType)) await decodeImage(bytes);
  const { contentType, width, height } = facts;
  return { bytes, contentType, width, height, repairs: [] };
}

async function decodeImage(bytes: Uint8Array): Promise<void> {
  const image = await openImage(bytes);
  await image.resize(8, 8, { fit: "fill", fastShrinkOnLoad: true }).raw().toBuffer();
}

async function repaired(
  bytes: Uint8Array,
  facts: ImageFacts,
  plan: Repair,
  target: ImageTarget,
): Promise<FittedImage> {
  const separated = separatedOf(bytes, facts, plan);
  if (separated !== undefined)
    return { ...(await untouched(separated, facts)), repairs: plan.repairs };
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
  throw mediaRefusal("size", `can't be made smaller than ${target.bytesMax} bytes`);
}

/** Repairs that leave out parts of the file, or add its end, and don't touch the visible pixels. */
const REMOVALS: ReadonlySet<MediaRepair> = new Set([
  "completed",
  "shownFlat",
  "metadataRemoved",
  "extrasRemoved",
]);

/** Removes everything but the picture from a file. Undefined when the picture has to be encoded again. */
function separatedOf(
  bytes: Uint8Array,
  { contentType, orientation }: ImageFacts,
  plan: Repair,
): Uint8Array | undefined {
  // An animated PNG also contains a still picture, for programs that don't support animation.
  const isPng = contentType === "image/png" && plan.contentType === "image/png";
  const isStill = isPng && plan.repairs.includes("stilled");
  const isRemoval = (repair: MediaRepair) =>
    REMOVALS.has(repair) || (isStill && repair === "stilled");
  if (!plan.repairs.every(isRemoval)) return undefined;
  const { kept } = pictureParts(contentType, bytes, { orientation, isStill });
  return kept === null ? undefined : Buffer.concat(kept);
}

/** Encodes the image in the best quality below the limit, or else in the lowest quality. */
async function encoded(
  bytes: Uint8Array,
  { width, height }: { readonly width: number; readonly height: number },
  contentType: string,
  bytesMax: number,
): Promise<Uint8Array> {
  // By default the library converts colors to sRGB and removes all metadata.
  const colors = statedColors(contentTypeOf(bytes), bytes);
  const scaled = (image: Sharp) => image.resize(width, height, { fit: "fill" });
  const opened = async () =>
    (await openImage(bytes, { ignoreIcc: colors !== undefined })).autoOrient();
  const decoded = (await tiffPixels(bytes)) ?? (await gifPixels(bytes));
  const pixels =
    colors === undefined ? undefined : await convertedPixels(scaled(await opened()), colors);
  const frame = async () => {
    if (decoded !== undefined) return scaled(await imageOf(decoded));
    return pixels === undefined ? scaled(await opened()) : await imageOf(pixels);
  };
  if (contentType === "image/png") {
    return (await frame()).png({ compressionLevel: 9 }).toBuffer();
  }
  const optimiseCoding = width * height <= OPTIMISED_PIXELS_MAX;
  let made: Uint8Array = new Uint8Array();
  for (const quality of QUALITIES) {
    const flat = (await frame()).flatten({ background: "#ffffff" });
    made = await flat.jpeg({ quality, optimiseCoding }).toBuffer();
    if (made.length <= bytesMax) break;
  }
  return made;
}

interface RawPixels {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 2 | 3 | 4;
}

/**
 * Decodes a TIFF with colors or channels that the library takes for others. Before its pixels are right, it can't be
 * scaled. Undefined for all other files.
 */
async function tiffPixels(bytes: Uint8Array): Promise<RawPixels | undefined> {
  const { coding } = (await tiffIn(bytes)) ?? {};
  if (coding?.kind !== "colors" && coding?.kind !== "extra") return undefined;
  const image = (await openImage(bytes)).autoOrient().removeAlpha();
  const isDeep = coding.kind === "colors" && coding.colors.bits === 16;
  const { data, info } = await (
    isDeep ? image.toColorspace("rgb16").raw({ depth: "ushort" }) : image.raw()
  ).toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  if (coding.kind === "extra") return { data, width, height, channels };
  const stored = isDeep
    ? new Uint16Array(data.buffer, data.byteOffset, data.length / 2)
    : new Uint8Array(data.buffer, data.byteOffset, data.length);
  return { data: screenPixels(stored, coding.colors), width, height, channels };
}

/**
 * Decodes a GIF whose first frame doesn't cover its canvas. The library fills the rest with a color that viewers don't
 * show. Undefined for all other files.
 */
async function gifPixels(bytes: Uint8Array): Promise<RawPixels | undefined> {
  const frame = contentTypeOf(bytes) === GIF ? partialFrame(bytes) : undefined;
  if (frame === undefined) return undefined;
  const image = (await openImage(bytes)).toColorspace("srgb").ensureAlpha();
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  for (let y = 0; y < height; y += 1) {
    const isOutside = y < frame.top || y >= frame.bottom;
    const [from, until] = isOutside ? [width, width] : [frame.left, Math.min(frame.right, width)];
    const [row, next] = [y * width * 4, (y + 1) * width * 4];
    data.fill(0, row, Math.min(row + from * 4, next));
    data.fill(0, Math.min(row + until * 4, next), next);
  }
  return { data, width, height, channels: 4 };
}

/** Decodes an image whose colors the library doesn't know, and converts them to those of screens. */
async function convertedPixels(image: Sharp, colors: StatedColors): Promise<RawPixels> {
  const { data, info } = await image
    .toColorspace("rgb16")
    .raw({ depth: "ushort" })
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const deep = new Uint16Array(data.buffer, data.byteOffset, data.length / 2);
  return { data: shownPixels({ data: deep, channels }, colors), width, height, channels };
}

async function imageOf({ data, width, height, channels }: RawPixels): Promise<Sharp> {
  const sharp = await (library ??= loadSharp());
  return sharp(data, { raw: { width, height, channels } });
}

function undecodableImage(error: unknown): MediaFailure {
  const message = error instanceof Error ? error.message : "";
  return /pixel limit/.test(message)
    ? mediaRefusal("pixels", `more than ${PIXELS_MAX} pixels`, error)
    : mediaRefusal("damaged", "the image can't be read", error);
}
