import { jpegSegments } from "./jpeg-parts.ts";
import { PNG_END, PNG_START, pngChunks } from "./chunk-parts.ts";

const JPEG_END = 0xd9;
const JPEG_SCAN = 0xda;
/** Frame headers list the components. The other markers of this range are tables. */
const JPEG_TABLES: ReadonlySet<number> = new Set([0xc4, 0xc8, 0xcc]);
const COEFFICIENTS = 64;

/**
 * Reports whether a JPEG's scans have all coefficients of all components in full precision. A progressive picture that
 * was cut between two scans has not.
 */
function hasAllScans(jpeg: Buffer): boolean {
  /** By component: the number of low bits that are still missing, for each coefficient. */
  const missing = new Map<number, number[]>();
  for (const { marker, bytes } of jpegSegments(jpeg)) {
    if (marker >= 0xc0 && marker <= 0xcf && !JPEG_TABLES.has(marker))
      for (let index = 0; index < (bytes[9] ?? 0); index += 1)
        missing.set(
          bytes[10 + index * 3] ?? 0,
          Array.from({ length: COEFFICIENTS }, () => Infinity),
        );
    if (marker !== JPEG_SCAN) continue;
    const count = bytes[4] ?? 0;
    const [first = 0, last = 0, bits = 0] = bytes.subarray(5 + count * 2);
    for (let index = 0; index < count; index += 1)
      missing
        .get(bytes[5 + index * 2] ?? 0)
        ?.fill(bits & 15, first, Math.min(last, COEFFICIENTS - 1) + 1);
  }
  return missing.size > 0 && [...missing.values()].flat().every((bits) => bits === 0);
}

function withPngEnd(png: Buffer): Buffer | undefined {
  let end = PNG_START;
  let last = "";
  for (const { type, bytes } of pngChunks(png)) {
    last = type;
    end += bytes.length;
  }
  const isCutInEnd = PNG_END.subarray(0, png.length - end).equals(png.subarray(end));
  return last !== "IEND" && last !== "" && isCutInEnd
    ? Buffer.concat([png.subarray(0, end), PNG_END])
    : undefined;
}

/**
 * Adds the end marker to a picture whose program or transfer left it out, as all viewers do. Undefined if it isn't
 * exactly the marker that is missing. Whether the pixels are complete, only decoding tells.
 */
export function withEnd(contentType: string, bytes: Uint8Array): Buffer | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (contentType === "image/jpeg") {
    let last = 0;
    for (const { marker } of jpegSegments(file)) last = marker;
    if (last !== JPEG_SCAN || !hasAllScans(file)) return undefined;
    // The first byte of the marker may be there.
    const isHalf = file.at(-1) === 0xff;
    return Buffer.concat([file, Buffer.from(isHalf ? [JPEG_END] : [0xff, JPEG_END])]);
  }
  return contentType === "image/png" ? withPngEnd(file) : undefined;
}
