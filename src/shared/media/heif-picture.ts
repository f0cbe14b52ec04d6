// oxlint-disable no-underscore-dangle -- the names of functions of the library begin so
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { MainModule as Libheif } from "libheif-js/libheif-wasm/libheif.js";
import { IMAGE_SOURCE_BYTES_MAX } from "../networks/contract/media.ts";
import { isSilentExif, UPRIGHT } from "./exif.ts";
import type { ImageFacts } from "./file-job.ts";
import { PANORAMA } from "./image-facts.ts";
import { mediaRefusal } from "./media-request.ts";
import { shownPixels, type StatedColors } from "./stated-colors.ts";

/** Types of pictures in the container that iPhones write (ISO/IEC 23008-12), except AVIF. */
const HEIF_TYPES: readonly string[] = ["image/heic", "image/heif"];

export const isHeif = (contentType: string) => HEIF_TYPES.includes(contentType);

let library: Promise<() => Libheif> | undefined;

interface LibheifOptions {
  readonly wasmBinary: Uint8Array;
  readonly print: () => void;
  readonly printErr: () => void;
}

async function loadLibheif(): Promise<() => Libheif> {
  const loaded: unknown = await import("libheif-js/libheif-wasm/libheif.js");
  // Safe: the file is a CommonJS module, although its types describe another.
  const { default: makeLibrary } = loaded as { default: (options: LibheifOptions) => Libheif };
  const path = createRequire(import.meta.url).resolve("libheif-js/libheif-wasm/libheif.wasm");
  const wasmBinary = readFileSync(path);
  const print = () => undefined;
  // Each picture gets a memory of its own, which a hostile one can't leave changed, and which ends with it. What the
  // library printed would count as an answer of the reading process.
  return () => makeLibrary({ wasmBinary, print, printErr: print });
}

/** Loads the decoder of these pictures. The process that doesn't read any never loads it. */
export function loadHeifLibrary(): Promise<unknown> {
  return (library ??= loadLibheif());
}

/** Values of the library's enumerations. */
const UNSUPPORTED: readonly number[] = [3, 4];
const OUT_OF_MEMORY = 6;
const LIMIT_EXCEEDED = 1_000;
const RGB = 1;
const INTERLEAVED = 10;
const CHROMA = { usual: { rgb: 10, rgba: 11 }, deep: { rgb: 14, rgba: 15 } } as const;
const NOT_ALPHA = 2;
const MIRRORED_SIDEWAYS = 1;

/** Offsets in its structures, as its 32-bit build has them. */
const OPTION = { ignoresTransformations: 1, isStrict: 21, keepsColors: 69 } as const;
const TILING = { columns: 4, rows: 8, tileWidth: 12, tileHeight: 16 } as const;
const TILING_BYTES = 80;

/** Returns a four-letter code as the number that the library has for it. */
const code = (letters: string) => Buffer.from(letters, "latin1").readUInt32BE(0);
const [GRID, HVC, EXIF, MIME] = ["grid", "hvc1", "Exif", "mime"].map(code);
/** Items that are coded with HEVC or made of others. Grids are made of tiles. */
const DECODED: ReadonlySet<number> = new Set(["hvc1", "iden", "iovl"].map(code));
const [TURN, MIRROR, CROP] = [code("irot"), code("imir"), code("clap")];

/** What the library says of a part that is beyond the end of the file. */
const BEYOND_END = "outside of file bounds";

/** Reports whether a refusal is certain although only the beginning of the file is known. */
export const isCutHeif = ({ message }: Error) => message.includes(BEYOND_END);

/** More than any program writes: pictures of 100 megapixels in small tiles have fewer than 2,000 items. */
const ITEMS_MAX = 4_096;
const STEPS_MAX = 16;
/** Memory for a pixel of what is decoded in one piece, as measured: the decoder has several copies of it. */
const PIXEL_BYTES = 7.5;
const DEEP_PIXEL_BYTES = 15;
const ALPHA_PIXEL_BYTES = 4;
/** Maximum memory for a picture. The process itself has 100 MB more. */
const HELD_BYTES_MAX = 520 * 1024 * 1024;
/** Larger ones take more time to decode than a picture has. */
const PIXELS_MAX = 64_000_000;
/** How many pixels are converted in one go. Tables are made for each. */
const CONVERTED_PIXELS = 1_048_576;
const OUT_BYTES = 64;

interface HeifFile {
  readonly size: number;
  readonly lib: Libheif;
  readonly context: number;
  /** The primary picture. */
  readonly handle: number;
  readonly item: number;
  /** Calls a function of the library, and returns the first number that it wrote to `out`. @throws MediaFailure */
  readonly ask: (call: (error: number, out: number) => unknown) => number;
  /** Returns the number at an address. */
  readonly word: (at: number) => number;
  readonly bytesAt: (at: number, length: number) => Buffer;
}

/** Returns the memory of decoders that are no longer used, which is too large to wait until the engine does. */
export function collectDecoders(): void {
  globalThis.gc?.();
}

/**
 * Opens a picture of which possibly only the beginning is known.
 * @throws MediaFailure for a file without one
 */
async function openHeif(bytes: Uint8Array, size: number): Promise<HeifFile> {
  const makeDecoder = await (library ??= loadLibheif());
  collectDecoders();
  const lib = makeDecoder();
  // The memory is another object after it has grown.
  const bytesAt = (at: number, length: number) => {
    const { buffer } = lib.HEAPU8 as Uint8Array;
    return Buffer.from(buffer, at, length);
  };
  const word = (at: number) => bytesAt(at, 4).readUInt32LE(0);
  const [error, out] = [lib._malloc(OUT_BYTES), lib._malloc(OUT_BYTES)];
  const ask: HeifFile["ask"] = (call) => {
    call(error, out);
    const [failure, detail, text] = [word(error), word(error + 4), word(error + 8)];
    if (failure === 0) return word(out);
    const [message = ""] = bytesAt(text, 200).toString("latin1").split("\0", 1);
    if (failure === OUT_OF_MEMORY || detail === LIMIT_EXCEEDED)
      throw mediaRefusal("pixels", message);
    throw mediaRefusal(UNSUPPORTED.includes(failure) ? "imageCoding" : "damaged", message);
  };
  const context = lib._heif_context_alloc();
  // What isn't known yet is zeros. Without it, the library would refuse a file whose metadata are at its end.
  const length = Math.max(bytes.length, Math.min(size, IMAGE_SOURCE_BYTES_MAX));
  const file = lib._malloc(length);
  bytesAt(file, bytes.length).set(bytes);
  ask((at) => lib._heif_context_read_from_memory_without_copy(at, context, file, length, 0));
  const handle = ask((at, to) => lib._heif_context_get_primary_image_handle(at, context, to));
  const item = lib._heif_image_handle_get_item_id(handle);
  return { size: length, lib, context, handle, item, ask, word, bytesAt };
}

/**
 * Reads the facts of a picture from the beginning of its file or all of it. Refuses one that can't be decoded, by its
 * coding or size.
 * @throws MediaFailure
 */
export async function heifFacts(
  { contentType, size }: Pick<ImageFacts, "contentType" | "size">,
  bytes: Uint8Array,
): Promise<ImageFacts> {
  const heif = await openHeif(bytes, size);
  const { lib, context, handle, item, ask, word, bytesAt } = heif;
  const type = lib._heif_item_get_item_type(context, item);
  const coded =
    type === GRID
      ? ask((at, to) => lib._heif_image_handle_get_grid_image_tile_id(at, handle, 0, 0, 0, to))
      : item;
  const coding = lib._heif_item_get_item_type(context, coded);
  if (!DECODED.has(coding)) throw mediaRefusal("imageCoding", `items of type ${coding}`);
  tilingOf(heif);
  const list = lib._malloc(ITEMS_MAX * 4);
  const count = lib._heif_context_get_list_of_item_IDs(context, list, ITEMS_MAX);
  const items = Array.from({ length: count }, (_none, index) => word(list + index * 4));
  const metadata = items.flatMap((id) => {
    const kind = lib._heif_item_get_item_type(context, id);
    if (kind !== EXIF && kind !== MIME) return [];
    const at = lib._malloc(OUT_BYTES);
    ask((failure) => lib._heif_item_get_item_data(failure, context, id, 0, at, at + 4));
    return [{ kind, block: bytesAt(word(at), word(at + 4)) }];
  });
  // Tables say where each part is, so a missing end shows from the beginning.
  for (const id of items)
    if (lib._heif_item_get_item_type(context, id) === HVC)
      ask((failure, to) => lib._heif_item_get_item_data(failure, context, id, 0, 0, to));
  return {
    contentType,
    size,
    width: lib._heif_image_handle_get_width(handle),
    height: lib._heif_image_handle_get_height(handle),
    // Properties of the picture turn it, which is done while it is decoded. Programs ignore what EXIF says.
    orientation: UPRIGHT,
    // The block begins with the offset of its directory (ISO/IEC 23008-12, A.2.1).
    hasMetadata: metadata.some(
      ({ kind, block }) =>
        kind === MIME ||
        block.length < 4 ||
        !isSilentExif(block.subarray(4 + block.readUInt32BE(0))),
    ),
    // Thumbnails, depth, gain maps, the other pictures of a burst.
    hasExtras:
      lib._heif_image_handle_get_number_of_thumbnails(handle) > 0 ||
      lib._heif_image_handle_get_number_of_auxiliary_images(handle, NOT_ALPHA) > 0 ||
      lib._heif_context_get_number_of_top_level_images(context) > 1 ||
      lib._heif_context_has_sequence(context) !== 0,
    isSeparable: false,
    lacksEnd: false,
    frames: 1,
    hasAlpha: lib._heif_image_handle_has_alpha_channel(handle) !== 0,
    isRare: false,
    isPanorama: metadata.some(({ block }) => PANORAMA.test(block.toString("latin1"))),
  };
}

/** How a picture is stored: its size, and the tiles that are decoded one after the other. */
interface Tiling {
  readonly width: number;
  readonly height: number;
  readonly columns: number;
  readonly rows: number;
  readonly tileWidth: number;
  readonly tileHeight: number;
  readonly channels: 3 | 4;
  readonly isDeep: boolean;
}

/** Reads how a picture is stored. @throws MediaFailure for one that takes too much memory */
function tilingOf({ lib, context, handle, item, size, ask, word }: HeifFile): Tiling {
  const width = lib._heif_image_handle_get_ispe_width(handle);
  const height = lib._heif_image_handle_get_ispe_height(handle);
  const hasAlpha = lib._heif_image_handle_has_alpha_channel(handle) !== 0;
  const isDeep = lib._heif_image_handle_get_luma_bits_per_pixel(handle) > 8;
  const channels = hasAlpha ? 4 : 3;
  let tiling: Tiling = {
    width,
    height,
    columns: 1,
    rows: 1,
    tileWidth: width,
    tileHeight: height,
    channels,
    isDeep,
  };
  // Transparency is decoded in one piece, since its tiles may be others.
  if (lib._heif_item_get_item_type(context, item) === GRID && !hasAlpha) {
    const at = lib._malloc(TILING_BYTES);
    ask((error) => lib._heif_image_handle_get_image_tiling(error, handle, 0, at));
    tiling = {
      ...tiling,
      columns: word(at + TILING.columns),
      rows: word(at + TILING.rows),
      tileWidth: word(at + TILING.tileWidth),
      tileHeight: word(at + TILING.tileHeight),
    };
  }
  const { tileWidth, tileHeight } = tiling;
  const pixelBytes = (isDeep ? DEEP_PIXEL_BYTES : PIXEL_BYTES) + (hasAlpha ? ALPHA_PIXEL_BYTES : 0);
  // The file is in the memory of the decoder, and was already in that of the process.
  const held = 2 * size + width * height * channels + tileWidth * tileHeight * pixelBytes;
  if (width * height > PIXELS_MAX || held > HELD_BYTES_MAX)
    throw mediaRefusal("pixels", `${width} × ${height}, ${held} bytes`);
  return tiling;
}

/** Where the pixels of the stored picture are in the visible one: `x = across[0] * x + across[1] * y + across[2]`. */
interface Placement {
  readonly width: number;
  readonly height: number;
  readonly across: readonly [number, number, number];
  readonly down: readonly [number, number, number];
}

/** Follows the properties that turn, mirror and crop the picture, in their order (ISO/IEC 23008-12, 6.5.10 to 6.5.12). */
function placementOf(
  { lib, context, item, word }: HeifFile,
  { width, height }: Pick<Tiling, "width" | "height">,
): Placement {
  const flipped = ([x, y, from]: Placement["across"], length: number) =>
    [-x, -y, length - 1 - from] as const;
  const shifted = ([x, y, from]: Placement["across"], border: number) =>
    [x, y, from - border] as const;
  const [list, borders] = [lib._malloc(STEPS_MAX * 4), lib._malloc(OUT_BYTES)];
  const count = lib._heif_item_get_transformation_properties(context, item, list, STEPS_MAX);
  let place: Placement = { width, height, across: [1, 0, 0], down: [0, 1, 0] };
  for (let index = 0; index < count; index += 1) {
    const step = word(list + index * 4);
    const { width, height, across, down } = place;
    switch (lib._heif_item_get_property_type(context, item, step)) {
      case TURN:
        for (
          let left = lib._heif_item_get_property_transform_rotation_ccw(context, item, step);
          left > 0;
          left -= 90
        )
          place = {
            width: place.height,
            height: place.width,
            across: place.down,
            down: flipped(place.across, place.width),
          };
        break;
      case MIRROR:
        place =
          lib._heif_item_get_property_transform_mirror(context, item, step) === MIRRORED_SIDEWAYS
            ? { ...place, across: flipped(across, width) }
            : { ...place, down: flipped(down, height) };
        break;
      case CROP: {
        const sides = [borders, borders + 4, borders + 8, borders + 12] as const;
        lib._heif_item_get_property_transform_crop_borders(
          ...([context, item, step, width, height] as const),
          ...sides,
        );
        // A frame that is larger than the picture crops nothing.
        const [left = 0, top = 0, right = 0, bottom = 0] = sides.map((at) =>
          Math.max(0, word(at) | 0),
        );
        place = {
          width: width - left - right,
          height: height - top - bottom,
          across: shifted(across, left),
          down: shifted(down, top),
        };
        break;
      }
      default:
    }
  }
  return place;
}

/** Tags of TIFF 6.0 and of ICC.1, and the sizes of their types. */
const TIFF_TAG = {
  width: 256,
  height: 257,
  bits: 258,
  compression: 259,
  photometric: 262,
} as const;
const TIFF_MORE = { offsets: 273, samples: 277, lines: 278, lengths: 279, extra: 338 } as const;
const PROFILE_TAG = 34_675;
const TIFF_RGB = 2;
const [SHORT, LONG, BLOB] = [3, 4, 7];
const TIFF_TYPE_BYTES: Readonly<Record<number, number>> = { [SHORT]: 2, [LONG]: 4, [BLOB]: 1 };
/** The reader holds a strip at a time. */
const STRIP_LINES = 16;

/** Makes an uncompressed TIFF whose pixels are still black, and returns where they begin. */
function emptyTiff(
  { width, height }: Pick<Placement, "width" | "height">,
  channels: 3 | 4,
  profile: Buffer | undefined,
): { readonly tiff: Buffer; readonly start: number } {
  const strips = Math.ceil(height / STRIP_LINES);
  const lineBytes = width * channels;
  const lengths = Array.from(
    { length: strips },
    (_none, strip) => Math.min(STRIP_LINES, height - strip * STRIP_LINES) * lineBytes,
  );
  const entries = (offsets: readonly number[]) =>
    [
      [TIFF_TAG.width, LONG, [width]],
      [TIFF_TAG.height, LONG, [height]],
      [TIFF_TAG.bits, SHORT, Array.from({ length: channels }, () => 8)],
      [TIFF_TAG.compression, SHORT, [1]],
      [TIFF_TAG.photometric, SHORT, [TIFF_RGB]],
      [TIFF_MORE.offsets, LONG, offsets],
      [TIFF_MORE.samples, SHORT, [channels]],
      [TIFF_MORE.lines, LONG, [STRIP_LINES]],
      [TIFF_MORE.lengths, LONG, lengths],
      ...(channels === 4 ? ([[TIFF_MORE.extra, SHORT, [2]]] as const) : []),
      ...(profile === undefined ? [] : ([[PROFILE_TAG, BLOB, [...profile]]] as const)),
    ] as const;
  const sizes = entries(lengths).map(
    ([, type, { length }]) => length * (TIFF_TYPE_BYTES[type] ?? 1),
  );
  const directoryBytes = 2 + sizes.length * 12 + 4;
  const valuesBytes = sizes.reduce((sum, size) => sum + (size > 4 ? size + (size & 1) : 0), 0);
  const start = 8 + directoryBytes + valuesBytes;
  const tiff = Buffer.alloc(start + height * lineBytes);
  tiff.write("II*\0", "latin1");
  tiff.writeUInt32LE(8, 4);
  let at = tiff.writeUInt16LE(sizes.length, 8);
  let far = 8 + directoryBytes;
  const offsets = lengths.map((_length, strip) => start + strip * STRIP_LINES * lineBytes);
  for (const [tag, type, values] of entries(offsets)) {
    at = tiff.writeUInt16LE(tag, at);
    at = tiff.writeUInt16LE(type, at);
    at = tiff.writeUInt32LE(values.length, at);
    const [bytes = 1] = [TIFF_TYPE_BYTES[type]];
    const isFar = values.length * bytes > 4;
    if (isFar) tiff.writeUInt32LE(far, at);
    let to = isFar ? far : at;
    for (const value of values) to = tiff.writeUIntLE(value, to, bytes);
    if (isFar) far = to + (to & 1);
    at += 4;
  }
  return { tiff, start };
}

/**
 * Decodes a picture, upright, into an uncompressed TIFF with its profile, which the image library reads line by line.
 * Colors that are stated by numbers are converted to those of screens.
 * @throws MediaFailure
 */
export async function heifAsTiff(
  bytes: Uint8Array,
  colors: StatedColors | undefined,
): Promise<Uint8Array> {
  const heif = await openHeif(bytes, bytes.length);
  const { lib, handle, ask, word, bytesAt } = heif;
  const tiling = tilingOf(heif);
  const { channels, columns, rows } = tiling;
  const place = placementOf(heif, tiling);
  if (
    place.width !== lib._heif_image_handle_get_width(handle) ||
    place.height !== lib._heif_image_handle_get_height(handle)
  )
    throw mediaRefusal("damaged", "its size doesn't follow from its properties");
  const profileBytes = lib._heif_image_handle_get_raw_color_profile_size(handle);
  const profileAt = lib._malloc(profileBytes);
  if (profileBytes > 0)
    ask((error) => lib._heif_image_handle_get_raw_color_profile(error, handle, profileAt));
  const profile = bytesAt(profileAt, profileBytes);
  // One for tones of grey hardly differs from those of screens, and the pixels are decoded as colors.
  const isKept = colors === undefined && profile.toString("latin1", 16, 20) === "RGB ";
  const { tiff, start } = emptyTiff(place, channels, isKept ? profile : undefined);
  const options = lib._heif_decoding_options_alloc();
  for (const option of Object.values(OPTION)) bytesAt(options + option, 1)[0] = 1;
  // Eight bits suffice for colors that stay as they are.
  const isDeep = tiling.isDeep && colors !== undefined;
  const depth = isDeep ? CHROMA.deep : CHROMA.usual;
  const chroma = channels === 4 ? depth.rgba : depth.rgb;
  const isPremultiplied = lib._heif_image_handle_is_premultiplied_alpha(handle) !== 0;
  const stride = lib._malloc(OUT_BYTES);
  let packed = Buffer.alloc(0);
  // Most pictures are neither turned nor mirrored, and their lines are copied.
  const isUpright = place.across[0] === 1 && place.down[1] === 1;
  for (let index = 0; index < columns * rows; index += 1) {
    const [column, row] = [index % columns, Math.floor(index / columns)];
    const tile = ask((error, out) =>
      columns * rows === 1
        ? lib._heif_decode_image(error, handle, out, RGB, chroma, options)
        : lib._heif_image_handle_decode_image_tile(
            ...([error, handle, out, RGB, chroma, options, column, row] as const),
          ),
    );
    const [left, top] = [column * tiling.tileWidth, row * tiling.tileHeight];
    // The last tiles reach beyond the picture.
    const width = Math.min(lib._heif_image_get_width(tile, INTERLEAVED), tiling.width - left);
    const height = Math.min(lib._heif_image_get_height(tile, INTERLEAVED), tiling.height - top);
    const scale = 65_535 / (2 ** lib._heif_image_get_bits_per_pixel_range(tile, INTERLEAVED) - 1);
    const plane = lib._heif_image_get_plane_readonly2(tile, INTERLEAVED, stride);
    const lineBytes = width * channels * (isDeep ? 2 : 1);
    const lines = Math.min(height, Math.max(1, Math.floor(CONVERTED_PIXELS / width)));
    if (packed.length !== lines * lineBytes) packed = Buffer.alloc(lines * lineBytes);
    const samples = isDeep ? new Uint16Array(packed.buffer) : packed;
    for (let first = 0; first < height; first += lines) {
      const count = Math.min(lines, height - first);
      for (let line = 0; line < count; line += 1)
        packed.set(bytesAt(plane + (first + line) * word(stride), lineBytes), line * lineBytes);
      if (isDeep) samples.forEach((value, at) => (samples[at] = value * scale));
      if (isPremultiplied)
        for (let at = 0; at < samples.length; at += channels) {
          const alpha = samples[at + 3] ?? 0;
          const most = isDeep ? 65_535 : 255;
          if (alpha === 0) continue;
          for (let one = at; one < at + 3; one += 1)
            samples[one] = Math.min(most, ((samples[one] ?? 0) * most) / alpha);
        }
      const shown =
        colors === undefined ? packed : shownPixels({ data: samples, channels }, colors);
      for (let line = 0; line < count; line += 1) {
        const y = top + first + line;
        if (isUpright) {
          const [toX, toY] = [left + place.across[2], y + place.down[2]];
          const [from, until] = [Math.max(0, -toX), Math.min(width, place.width - toX)];
          if (toY < 0 || toY >= place.height || until <= from) continue;
          const run = shown.subarray(
            (line * width + from) * channels,
            (line * width + until) * channels,
          );
          tiff.set(run, start + (toY * place.width + toX + from) * channels);
          continue;
        }
        for (let x = left; x < left + width; x += 1) {
          const toX = place.across[0] * x + place.across[1] * y + place.across[2];
          const toY = place.down[0] * x + place.down[1] * y + place.down[2];
          if (toX < 0 || toY < 0 || toX >= place.width || toY >= place.height) continue;
          const from = (line * width + x - left) * channels;
          const to = start + (toY * place.width + toX) * channels;
          for (let channel = 0; channel < channels; channel += 1)
            tiff[to + channel] = shown[from + channel] ?? 0;
        }
      }
    }
    lib._heif_image_release(tile);
  }
  return tiff;
}
