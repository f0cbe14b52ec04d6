import { type Box, BoxedFile } from "./boxes.ts";
import { pngChunks } from "./chunk-parts.ts";

/** How the numbers of a picture become light. */
type Transfer =
  | { readonly kind: "screen" | "linear" | "pq" | "hlg" }
  | { readonly kind: "gamma"; readonly exponent: number };

/** Red, green, blue and white by their place in the CIE 1931 diagram. */
type Primaries = readonly (readonly [x: number, y: number])[];

/** The colors of a picture that states them by numbers instead of a profile, if they differ from those of screens. */
export interface StatedColors {
  readonly transfer: Transfer;
  readonly primaries: Primaries;
}

const D65 = [0.3127, 0.329] as const;
const SCREEN: Primaries = [[0.64, 0.33], [0.3, 0.6], [0.15, 0.06], D65];
/** Primaries by their code (ITU-T H.273, 8.1). All others are treated as those of screens, from which they hardly differ. */
const PRIMARIES: Readonly<Record<number, Primaries>> = {
  9: [[0.708, 0.292], [0.17, 0.797], [0.131, 0.046], D65],
  11: [
    [0.68, 0.32],
    [0.265, 0.69],
    [0.15, 0.06],
    [0.314, 0.351],
  ],
  12: [[0.68, 0.32], [0.265, 0.69], [0.15, 0.06], D65],
};
/** Transfer functions by their code (8.2). Those of television are shown as those of screens. */
const TRANSFERS: Readonly<Record<number, Transfer>> = {
  4: { kind: "gamma", exponent: 2.2 },
  5: { kind: "gamma", exponent: 2.8 },
  8: { kind: "linear" },
  16: { kind: "pq" },
  18: { kind: "hlg" },
};

/** Returns the colors that a PNG, AVIF or HEIC states by numbers. Undefined if they are those of screens or of a profile. */
export function statedColors(contentType: string, bytes: Uint8Array): StatedColors | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    if (contentType === "image/png") {
      // Reads what counts of a PNG's chunks (PNG, third edition, 4.3): the codes, a profile, the colors of screens, numbers.
      const stated = new Map<string, Buffer>();
      for (const { type, bytes } of pngChunks(file)) {
        if (type === "IDAT") break;
        if (!stated.has(type)) stated.set(type, bytes.subarray(8, -4));
      }
      const codes = stated.get("cICP");
      if (codes !== undefined && codes.length >= 2) return byCodes(codes[0] ?? 2, codes[1] ?? 2);
      if (stated.has("iCCP") || stated.has("sRGB")) return undefined;
      const gamma = stated.get("gAMA")?.readUInt32BE(0) ?? 0;
      // Zero means nothing, and others than these are mistakes.
      if (gamma < PNG_UNIT / 10 || gamma > PNG_UNIT * 10) return undefined;
      const isScreens = Math.abs(gamma - SCREEN_GAMMA) <= GAMMA_TOLERANCE;
      const transfer: Transfer = isScreens
        ? { kind: "screen" }
        : { kind: "gamma", exponent: PNG_UNIT / gamma };
      const primaries = primariesOf(stated.get("cHRM")) ?? SCREEN;
      return isScreens && primaries === SCREEN ? undefined : { transfer, primaries };
    }
    return ["image/avif", "image/heic", "image/heif"].includes(contentType)
      ? colorsOfItem(file)
      : undefined;
  } catch {
    // Offsets lead out of the file. The decoder says what is wrong with it.
    return undefined;
  }
}

function byCodes(primaries: number, transfer: number): StatedColors | undefined {
  const colors = {
    transfer: TRANSFERS[transfer] ?? ({ kind: "screen" } as const),
    primaries: PRIMARIES[primaries] ?? SCREEN,
  };
  return colors.transfer.kind === "screen" && colors.primaries === SCREEN ? undefined : colors;
}

/** What PNGs count in. */
const PNG_UNIT = 100_000;
const SCREEN_GAMMA = 45_455;
/** Programs round the gamma of screens in several ways. */
const GAMMA_TOLERANCE = 2_500;
/** Chromaticities that differ less can't be told apart. */
const PLACE_TOLERANCE = 0.01;

function primariesOf(chunk: Buffer | undefined): Primaries | undefined {
  if (chunk === undefined || chunk.length < 32) return undefined;
  const place = (at: number) =>
    [chunk.readUInt32BE(at) / PNG_UNIT, chunk.readUInt32BE(at + 4) / PNG_UNIT] as const;
  const [white, ...colors] = [0, 8, 16, 24].map(place);
  const primaries = [...colors, white ?? D65];
  const isPossible = primaries.every(([x, y]) => x > 0 && y > 0 && x + y < 1.1);
  const isScreens = primaries.every(([x, y], index) => {
    const [screenX, screenY] = SCREEN[index] ?? D65;
    return Math.abs(x - screenX) < PLACE_TOLERANCE && Math.abs(y - screenY) < PLACE_TOLERANCE;
  });
  return isPossible && !isScreens ? primaries : undefined;
}

/** Reads the properties of an AVIF or HEIC's main picture. It may have others, such as a gain map with colors of its own. */
function colorsOfItem(image: Buffer): StatedColors | undefined {
  const file = new BoxedFile(image.length, (start, end) => image.subarray(start, end));
  const meta = file.find({ start: 0, end: image.length }, "meta");
  if (meta === undefined) return undefined;
  // Its content begins with a version.
  const within = { start: meta.start + 4, end: meta.end };
  const [main, list] = [file.find(within, "pitm"), file.find(within, "iprp", "ipco")];
  const links = file.find(within, "iprp", "ipma");
  if (main === undefined || list === undefined || links === undefined) return undefined;
  const item = file.content(main);
  const id = item[0] === 0 ? item.readUInt16BE(4) : item.readUInt32BE(4);
  const properties = [...file.boxes(list.start, list.end)];
  const colors = propertiesOf(id, file.content(links)).flatMap((index) =>
    colorIn(file, properties[index - 1]),
  );
  // A profile says more than codes do.
  const [codes] = colors.some((one) => one === "profile") ? [] : colors;
  return codes === undefined || codes === "profile" ? undefined : byCodes(...codes);
}

function colorIn(
  file: BoxedFile,
  property: Box | undefined,
): readonly ("profile" | readonly [primaries: number, transfer: number])[] {
  if (property?.type !== "colr") return [];
  const content = file.content(property);
  const kind = content.toString("latin1", 0, 4);
  if (kind === "prof" || kind === "rICC") return ["profile"];
  return kind === "nclx" ? [[content.readUInt16BE(4), content.readUInt16BE(6)]] : [];
}

/** Returns the properties of an item by their place in the list (ISO/IEC 23008-12, 9.3.1), which counts from 1. */
function propertiesOf(id: number, links: Buffer): readonly number[] {
  const [isLarge, isWide] = [links[0] !== 0, ((links[3] ?? 0) & 1) !== 0];
  const count = links.readUInt32BE(4);
  let at = 8;
  for (let entry = 0; entry < count; entry += 1) {
    const item = isLarge ? links.readUInt32BE(at) : links.readUInt16BE(at);
    at += isLarge ? 4 : 2;
    const length = links[at] ?? 0;
    const first = at + 1;
    at = first + length * (isWide ? 2 : 1);
    if (item !== id) continue;
    return Array.from({ length }, (_none, index) =>
      isWide ? links.readUInt16BE(first + index * 2) & 0x7fff : (links[first + index] ?? 0) & 0x7f,
    );
  }
  return [];
}

type Matrix = readonly (readonly [number, number, number])[];

const ZERO = [0, 0, 0] as const;

function inverse([[a, b, c], [d, e, f], [g, h, i]]: readonly [
  readonly [number, number, number],
  readonly [number, number, number],
  readonly [number, number, number],
]): Matrix {
  const rows = [
    [e * i - f * h, c * h - b * i, b * f - c * e],
    [f * g - d * i, a * i - c * g, c * d - a * f],
    [d * h - e * g, b * g - a * h, a * e - b * d],
  ] as const;
  const whole = a * rows[0][0] + b * rows[1][0] + c * rows[2][0];
  return rows.map(([one, two, three]) => [one / whole, two / whole, three / whole] as const);
}

const times = (matrix: Matrix, column: readonly number[]): number[] =>
  matrix.map((row) => row.reduce((sum, value, index) => sum + value * (column[index] ?? 0), 0));

/** Returns the matrix from linear light in these primaries to CIE XYZ. */
function toXyz(primaries: Primaries): Matrix {
  const columns = primaries.map(([x, y]) => [x / y, 1, (1 - x - y) / y]);
  const [red = [], green = [], blue = [], white = []] = columns;
  const row = (index: number) => [red[index] ?? 0, green[index] ?? 0, blue[index] ?? 0] as const;
  const scales = times(inverse([row(0), row(1), row(2)]), white);
  return [0, 1, 2].map((index) => {
    const [one, two, three] = row(index);
    return [one * (scales[0] ?? 0), two * (scales[1] ?? 0), three * (scales[2] ?? 0)] as const;
  });
}

/** Returns the matrix from linear light in these primaries to that of screens. Each white becomes white. */
function toScreen(primaries: Primaries): Matrix {
  if (primaries === SCREEN)
    return [
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
    ];
  const [, , , white = D65] = primaries;
  const [red = D65, green = D65, blue = D65] = SCREEN;
  const [one = ZERO, two = ZERO, three = ZERO] = toXyz([red, green, blue, white]);
  const back = inverse([one, two, three]);
  const from = toXyz(primaries);
  const column = (index: 0 | 1 | 2) =>
    times(
      back,
      from.map((row) => row[index]),
    );
  const [reds, greens, blues] = [column(0), column(1), column(2)];
  return [0, 1, 2].map(
    (index) => [reds[index] ?? 0, greens[index] ?? 0, blues[index] ?? 0] as const,
  );
}

/** Luminance of white in pictures of high dynamic range, in cd/m² (ITU-R BT.2408, 3.1). Brighter light is a highlight. */
const WHITE_LUMINANCE = 203;
/** The display for which such pictures are usually made. */
const PEAK_LUMINANCE = 1_000;
/** From here on, highlights are compressed, so that they keep their detail. Relative to white. */
const KNEE = 0.75;

function lightOf(transfer: Transfer, signal: number): number {
  switch (transfer.kind) {
    case "linear":
      return signal;
    case "gamma":
      return signal ** transfer.exponent;
    case "pq": {
      // SMPTE ST 2084.
      const root = signal ** (1 / 78.843_75);
      const light = Math.max(root - 0.835_937_5, 0) / (18.851_562_5 - 18.6875 * root);
      return (light ** (1 / 0.159_301_757_812_5) * 10_000) / WHITE_LUMINANCE;
    }
    case "hlg":
      // ITU-R BT.2100, table 5: light of the scene. The display's part depends on all three colors.
      return signal <= 0.5
        ? signal ** 2 / 3
        : (Math.exp((signal - 0.559_910_73) / 0.178_832_77) + 0.284_668_92) / 12;
    default:
      return signal <= 0.040_45 ? signal / 12.92 : ((signal + 0.055) / 1.055) ** 2.4;
  }
}

function signalOf(light: number): number {
  const signal = light <= 0.003_130_8 ? light * 12.92 : 1.055 * light ** (1 / 2.4) - 0.055;
  return Math.round(signal * 255);
}

/** Compresses highlights into what is left above the knee, the first of them hardly (Reinhard and others, 2002). */
function withoutGlare(light: number): number {
  const room = 1 - KNEE;
  const over = (light - KNEE) / room;
  const most = (PEAK_LUMINANCE / WHITE_LUMINANCE - KNEE) / room;
  return KNEE + (room * over * (1 + over / most ** 2)) / (1 + over);
}

const SIGNALS = 4_096;

export interface Pixels {
  /** Three or four numbers a pixel. */
  readonly data: Uint8Array | Uint16Array;
  readonly channels: number;
}

/** Converts pixels to the colors of screens. What no screen shows becomes the nearest color that one does. */
export function shownPixels(
  { data, channels }: Pixels,
  { transfer, primaries }: StatedColors,
): Uint8Array {
  const most = data instanceof Uint16Array ? 65_535 : 255;
  const isBright = transfer.kind === "pq" || transfer.kind === "hlg";
  const lights = Float32Array.from({ length: most + 1 }, (_none, value) =>
    lightOf(transfer, value / most),
  );
  const signals = Uint8Array.from({ length: SIGNALS + 1 }, (_none, index) =>
    signalOf((index / SIGNALS) ** 2),
  );
  const [reds = ZERO, greens = ZERO, blues = ZERO] = toScreen(primaries);
  const shown = new Uint8Array(data.length);
  // The table is denser where the eye sees more differences.
  const signal = (light: number) =>
    signals[Math.round(Math.sqrt(Math.min(1, Math.max(0, light))) * SIGNALS)] ?? 0;
  for (let at = 0; at + 2 < data.length; at += channels) {
    let red = lights[data[at] ?? 0] ?? 0;
    let green = lights[data[at + 1] ?? 0] ?? 0;
    let blue = lights[data[at + 2] ?? 0] ?? 0;
    let gain = 1;
    if (transfer.kind === "hlg") {
      const scene = 0.2627 * red + 0.678 * green + 0.0593 * blue;
      gain = (PEAK_LUMINANCE / WHITE_LUMINANCE) * scene ** 0.2;
    }
    const brightest = Math.max(red, green, blue) * gain;
    if (isBright && brightest > KNEE) gain *= withoutGlare(brightest) / brightest;
    red *= gain;
    green *= gain;
    blue *= gain;
    shown[at] = signal(reds[0] * red + reds[1] * green + reds[2] * blue);
    shown[at + 1] = signal(greens[0] * red + greens[1] * green + greens[2] * blue);
    shown[at + 2] = signal(blues[0] * red + blues[1] * green + blues[2] * blue);
    if (channels === 4) shown[at + 3] = Math.round(((data[at + 3] ?? 0) * 255) / most);
  }
  return shown;
}
