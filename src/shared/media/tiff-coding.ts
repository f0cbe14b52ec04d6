/** What the tags of a TIFF say of how the pixels of one picture are stored. Absent tags have the format's defaults. */
export interface TiffTags {
  readonly compression: number;
  /** Undefined in a file that lacks it, which the decoder refuses. */
  readonly photometric: number | undefined;
  readonly samples: number;
  /** Bits of each sample, and whether it is an integer, signed or a float (`SampleFormat`). */
  readonly bits: readonly number[];
  readonly formats: readonly number[];
  /** What the samples beyond the colors are: 1 and 2 are transparency, 0 is unspecified. */
  readonly extras: readonly number[];
  readonly isPlanar: boolean;
  readonly isTiled: boolean;
  readonly inkSet: number;
  readonly subsampling: readonly number[];
  readonly coefficients: readonly number[];
  readonly blackWhite: readonly number[];
  readonly whitePoint: readonly number[];
}

/** Colors that the image library doesn't know. It is made to read their numbers, which are converted here. */
export type TiffColors =
  | {
      readonly kind: "lab";
      readonly bits: number;
      readonly isSigned: boolean;
      /** Whether they are relative to the white of screens and not, as usual, to that of print. */
      readonly isDaylight: boolean;
    }
  | {
      readonly kind: "luma";
      readonly bits: number;
      readonly coefficients: readonly [red: number, green: number, blue: number];
      /** Black and white of the luma, and of the two differences, where black is the middle. In parts of the whole. */
      readonly ranges: readonly (readonly [black: number, white: number])[];
    };

/**
 * How a picture is read. `usual`: by the library. `extra`: without the channels that aren't colors. `colors`: with
 * colors that are converted here. `rare`: in a way that the library reads wrongly or not at all.
 */
export type TiffCoding =
  | { readonly kind: "usual" }
  | { readonly kind: "extra" }
  | { readonly kind: "colors"; readonly colors: TiffColors }
  | { readonly kind: "rare"; readonly what: string };

const PHOTOMETRIC = { white: 0, black: 1, rgb: 2, palette: 3, inks: 5, luma: 6, lab: 8, iccLab: 9 };
/** Samples of a pixel that are colors. */
const COLOR_SAMPLES: Readonly<Record<number, number>> = {
  [PHOTOMETRIC.white]: 1,
  [PHOTOMETRIC.black]: 1,
  [PHOTOMETRIC.rgb]: 3,
  [PHOTOMETRIC.palette]: 1,
  [PHOTOMETRIC.inks]: 4,
  [PHOTOMETRIC.luma]: 3,
  [PHOTOMETRIC.lab]: 3,
  [PHOTOMETRIC.iccLab]: 3,
};
/** Bits of a sample. All of them count as unsigned integers, except that RGB may be 32-bit floats of linear light. */
const BITS: Readonly<Record<number, readonly number[]>> = {
  [PHOTOMETRIC.white]: [1, 2, 4, 8, 16],
  [PHOTOMETRIC.black]: [1, 2, 4, 8, 16],
  [PHOTOMETRIC.rgb]: [8, 16],
  [PHOTOMETRIC.palette]: [1, 2, 4, 8, 16],
  [PHOTOMETRIC.inks]: [8, 16],
  [PHOTOMETRIC.luma]: [8, 16],
  [PHOTOMETRIC.lab]: [8, 16],
  [PHOTOMETRIC.iccLab]: [8, 16],
};
const FLOAT_BITS = 32;
const FORMATS = { unsigned: 1, float: 3, unstated: 4 };
const JPEG = 7;
/** Faxes, which have one bit a pixel. */
const FAX: readonly number[] = [2, 3, 4];
/** None, LZW, two numbers of deflate, and PackBits. */
const LOSSLESS: readonly number[] = [1, 5, 8, 32_946, 32_773];
const OTHER_INKS = 2;
/** How many pixels across and down share a color, where the library knows what to do. */
const SUBSAMPLINGS: readonly string[] = ["2,1", "2,2", "4,1", "4,2", "4,4", "1,2"];
/** https://www.rfc-editor.org/rfc/rfc2301 and TIFF 6.0, section 21: those of Rec. 601. */
const COEFFICIENTS = [0.299, 0.587, 0.114] as const;
const DAYLIGHT = [0.3127, 0.329] as const;
const WHITE_TOLERANCE = 0.005;

/** Tells how a picture of a TIFF has to be read, by its tags. */
export function tiffCoding(tags: TiffTags): TiffCoding {
  const { photometric, compression, samples, isPlanar, isTiled } = tags;
  if (photometric === undefined) return { kind: "usual" };
  const rare = (what: string): TiffCoding => ({ kind: "rare", what });
  const colors = COLOR_SAMPLES[photometric];
  if (colors === undefined || samples < colors) return rare(`photometric ${photometric}`);
  const [bits = 1] = tags.bits;
  const isFax = FAX.includes(compression);
  if (!isFax && compression !== JPEG && !LOSSLESS.includes(compression))
    return rare(`compression ${compression}`);
  if (tags.bits.some((other) => other !== bits) || !isKnownSample(tags, bits))
    return rare(`samples of ${bits} bits`);
  if (isFax && bits !== 1) return rare("a fax of grey tones");
  const isSpread = isPlanar && samples > 1;
  if (isSpread && (isTiled || colors === 1 || compression === JPEG)) return rare("planes");
  if (photometric === PHOTOMETRIC.inks && tags.inkSet === OTHER_INKS) return rare("other inks");
  const extras = Array.from({ length: samples - colors }, (_, index) => tags.extras[index] ?? 0);
  const own = ownColors(tags, bits);
  if (own !== undefined) return extras.length > 0 ? rare("further samples") : own;
  const clear = extras.filter((extra) => extra > 0).length;
  if (extras.length > 0 && clear === 0) return { kind: "extra" };
  return extras.length > 1 ? rare("further samples") : { kind: "usual" };
}

function isKnownSample({ photometric = -1, formats }: TiffTags, bits: number): boolean {
  const { unsigned, unstated, float } = FORMATS;
  if (photometric === PHOTOMETRIC.rgb && formats.every((format) => format === float))
    return bits === FLOAT_BITS;
  // Lab colors are signed whether or not their format says so.
  const isLab = photometric === PHOTOMETRIC.lab;
  const areUnsigned = formats.every((format) => format === unsigned || format === unstated);
  return (areUnsigned || isLab) && BITS[photometric]?.includes(bits) === true;
}

/** Returns how a picture is read whose colors the library doesn't know. Undefined for all others. */
function ownColors(tags: TiffTags, bits: number): TiffCoding | undefined {
  const { photometric, compression, isPlanar, whitePoint } = tags;
  if (photometric === PHOTOMETRIC.lab || photometric === PHOTOMETRIC.iccLab) {
    if (compression === JPEG) return { kind: "rare", what: "Lab colors in a JPEG" };
    const isSigned = photometric === PHOTOMETRIC.lab;
    const isDaylight =
      whitePoint.length === 2 &&
      DAYLIGHT.every((place, axis) => Math.abs(place - (whitePoint[axis] ?? 0)) < WHITE_TOLERANCE);
    return { kind: "colors", colors: { kind: "lab", bits, isSigned, isDaylight } };
  }
  if (photometric !== PHOTOMETRIC.luma || compression === JPEG) return undefined;
  const subsampling = tags.subsampling.join(",");
  if (subsampling !== "1,1") {
    const isKnown = SUBSAMPLINGS.includes(subsampling) && bits === 8 && !isPlanar;
    return isKnown ? undefined : { kind: "rare", what: `subsampling ${subsampling}` };
  }
  const most = 2 ** bits - 1;
  const middle = 2 ** (bits - 1);
  const stated = tags.blackWhite.length === 6 ? tags.blackWhite : [0, most, middle, most];
  const range = (at: number) =>
    [(stated[at] ?? 0) / most, (stated[at + 1] ?? most) / most] as const;
  const [red, green, blue] = tags.coefficients.length === 3 ? tags.coefficients : COEFFICIENTS;
  const coefficients = [red ?? 0, green ?? 0, blue ?? 0] as const;
  const ranges = [range(0), range(2), range(stated.length === 6 ? 4 : 2)];
  const isPossible =
    ranges.every(([black, white]) => white > black) && coefficients.every((one) => one > 0);
  return isPossible
    ? { kind: "colors", colors: { kind: "luma", bits, coefficients, ranges } }
    : { kind: "rare", what: "ranges of colors" };
}

/** Bytes or words that the library read, three a pixel. */
type SampleArray = Uint8Array | Uint16Array;

/** Converts pixels to the colors of screens. The result takes the place of what it is made from. */
export function screenPixels(stored: SampleArray, colors: TiffColors): Uint8Array {
  const shown = new Uint8Array(stored.buffer, stored.byteOffset, stored.length);
  const convert = colors.kind === "lab" ? fromLab(colors) : fromLuma(colors);
  const pixel: [number, number, number] = [0, 0, 0];
  for (let at = 0; at + 2 < stored.length; at += 3) {
    convert(stored[at] ?? 0, stored[at + 1] ?? 0, stored[at + 2] ?? 0, pixel);
    for (let channel = 0; channel < 3; channel += 1)
      shown[at + channel] = Math.min(255, Math.max(0, Math.round(pixel[channel] ?? 0)));
  }
  return shown;
}

type PixelConverter = (
  one: number,
  two: number,
  three: number,
  pixel: [number, number, number],
) => void;

type XyzMatrix = readonly (readonly [number, number, number])[];

/** From CIE XYZ to linear sRGB: relative to the white of print (D50, adapted by Bradford), and of screens (D65). */
const FROM_PRINT: XyzMatrix = [
  [3.133_856_1, -1.616_866_7, -0.490_614_6],
  [-0.978_768_4, 1.916_141_5, 0.033_454],
  [0.071_945_3, -0.228_991_4, 1.405_242_7],
];
const PRINT_WHITE = [0.964_22, 1, 0.825_21] as const;
const FROM_DAYLIGHT: XyzMatrix = [
  [3.240_454_2, -1.537_138_5, -0.498_531_4],
  [-0.969_266, 1.876_010_8, 0.041_556],
  [0.055_643_4, -0.204_025_9, 1.057_225_2],
];
const DAYLIGHT_WHITE = [0.950_47, 1, 1.088_83] as const;

/** Light is looked up in this many steps of its square root. */
const STEPS = 4_096;

/** Converts lightness and two opposing colors (CIE 15:2004, 8.2.1). */
function fromLab({
  bits,
  isSigned,
  isDaylight,
}: Extract<TiffColors, { kind: "lab" }>): PixelConverter {
  const [matrix, white] = isDaylight ? [FROM_DAYLIGHT, DAYLIGHT_WHITE] : [FROM_PRINT, PRINT_WHITE];
  const isDeep = bits === 16;
  // ICC profiles of version 2 write 100 as 0xff00.
  const whole = isDeep ? (isSigned ? 65_535 : 65_280) : 255;
  const unit = isDeep ? 256 : 1;
  const half = 128 * unit;
  const opposing = (value: number) =>
    (isSigned ? (value >= half ? value - 2 * half : value) : value - half) / unit;
  const light = (root: number) => (root > 6 / 29 ? root ** 3 : (root - 4 / 29) * 3 * (6 / 29) ** 2);
  const signals = Float32Array.from({ length: STEPS + 1 }, (_none, step) => {
    const linear = (step / STEPS) ** 2;
    return 255 * (linear <= 0.003_130_8 ? linear * 12.92 : 1.055 * linear ** (1 / 2.4) - 0.055);
  });
  return (lightness, a, b, pixel) => {
    const y = ((lightness / whole) * 100 + 16) / 116;
    const xyz = [
      light(y + opposing(a) / 500) * white[0],
      light(y) * white[1],
      light(y - opposing(b) / 200) * white[2],
    ] as const;
    for (let channel = 0; channel < 3; channel += 1) {
      const [x = 0, inY = 0, z = 0] = matrix[channel] ?? [];
      const linear = Math.min(1, Math.max(0, x * xyz[0] + inY * xyz[1] + z * xyz[2]));
      pixel[channel] = signals[Math.round(Math.sqrt(linear) * STEPS)] ?? 0;
    }
  };
}

/** Converts luma and two differences of colors (TIFF 6.0, section 21). */
function fromLuma({
  bits,
  coefficients: [red, green, blue],
  ranges,
}: Extract<TiffColors, { kind: "luma" }>): PixelConverter {
  const most = 2 ** bits - 1;
  const part = (value: number, index: number) => {
    const [black = 0, white = 1] = ranges[index] ?? [];
    return (value / most - black) / (white - black);
  };
  // The differences reach from -1 to 1 here, of which the format counts half.
  return (luma, toBlue, toRed, pixel) => {
    const y = part(luma, 0);
    const r = y + part(toRed, 2) * (1 - red);
    const b = y + part(toBlue, 1) * (1 - blue);
    pixel[0] = 255 * r;
    pixel[1] = (255 * (y - red * r - blue * b)) / green;
    pixel[2] = 255 * b;
  };
}
