/** Brands of the ISO base media format, and the file type of each. Some are matched by their first three letters. */
const BRANDS: Readonly<Record<string, string>> = {
  "image/avif": "avif avis",
  "image/heic": "heic heix heim heis hevc hevx hevm hevs",
  "image/jxl": "jxl ",
  "image/x-canon-cr3": "crx ",
  "image/avci": "avci avcs",
  "video/quicktime": "qt   mqt ",
  "audio/mp4": "M4A  M4B  M4P  F4A  F4B ",
  "video/3gpp2": "3g2 kddi",
  "video/3gpp": "3g",
  "video/mp4":
    "iso isml mp4 mp7 avc M4V F4V f4v dash msdh msix MSNV XAVC mmp4 NDSC NDSH NDSM NDSS NDXC NDXH NDXM NDXS piff SDV  pana cmf hlsf dby av01 hvc1 hev1",
};
/** Brands that describe how the file is built rather than what is in it. The other brands tell the type. */
const GENERAL: ReadonlySet<string> = new Set(["mif1", "msf1", "mif2", "miaf"]);

const BOXES_MAX = 8;
const BRANDS_MAX = 32;
/** Boxes that may come before one with the type: https://developer.apple.com/documentation/quicktime-file-format */
const FILLERS: ReadonlySet<string> = new Set(["wide", "free", "skip", "pnot", "PICT"]);

/**
 * Tells the type of a file that consists of boxes. A QuickTime file needs no box that names its type: it may begin with
 * its data, its tables or filler.
 */
export function boxTypeOf(bytes: Buffer): string | undefined {
  let at = 0;
  for (let index = 0; index < BOXES_MAX && at + 8 <= bytes.length; index += 1) {
    const size = bytes.readUInt32BE(at);
    const name = bytes.toString("latin1", at + 4, at + 8);
    if (name === "mdat") return "video/quicktime";
    // No text looks like a box shorter than 16 MiB, because the first byte of the length is zero.
    if (bytes[at] !== 0 || size < 8) return undefined;
    if (name === "moov") return "video/quicktime";
    if (name === "ftyp") {
      const end = Math.min(at + size, at + 16 + BRANDS_MAX * 4, bytes.length);
      const brands = [bytes.toString("latin1", at + 8, at + 12)];
      for (let brand = at + 16; brand + 4 <= end; brand += 4)
        brands.push(bytes.toString("latin1", brand, brand + 4));
      // The type by the main brand, or by the first known one of the others.
      for (const brand of brands)
        for (const [type, known] of Object.entries(BRANDS))
          if (known.split(/ (?=\S)/).some((start) => brand.startsWith(start))) return type;
      return brands.some((brand) => GENERAL.has(brand)) ? "image/heif" : undefined;
    }
    if (!FILLERS.has(name)) return undefined;
    at += size;
  }
  // The filler is longer than the known bytes.
  return at > bytes.length ? "video/quicktime" : undefined;
}
