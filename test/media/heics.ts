import { readFileSync } from "node:fs";
import sharp from "sharp";
import { BoxedFile } from "../../src/shared/media/boxes.ts";

/** A picture that is coded with HEVC, without its container. */
export interface CodedPicture {
  readonly width: number;
  readonly height: number;
  /** The content of its decoder configuration. */
  readonly configuration: Buffer;
  readonly data: Buffer;
}

const box = (type: string, ...content: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(content);
  return Buffer.concat([uint32(body.length + 8), Buffer.from(type, "latin1"), body]);
};
const uint32 = (...values: readonly number[]) =>
  Buffer.concat(
    values.map((value) => Buffer.from([24, 16, 8, 0].map((by) => (value >>> by) & 255))),
  );
const uint16 = (...values: readonly number[]) =>
  Buffer.from(values.flatMap((value) => [value >>> 8, value & 255]));
const versioned = (type: string, version: number, flags: number, ...content: readonly Buffer[]) =>
  box(type, uint32(((version << 24) | flags) >>> 0), ...content);

/** Takes the coded picture out of a file that `heif-enc` wrote: its first item, and the properties of it. */
export function codedIn(heic: Buffer): CodedPicture {
  const file = new BoxedFile(heic.length, (start, end) => heic.subarray(start, end));
  const meta = file.find({ start: 0, end: heic.length }, "meta");
  if (meta === undefined) throw new Error("no HEIC");
  const within = { start: meta.start + 4, end: meta.end };
  const content = (...path: readonly string[]) => {
    const found = file.find(within, ...path);
    if (found === undefined) throw new Error(`no ${path.join(" ")}`);
    return heic.subarray(found.start, found.end);
  };
  const size = content("iprp", "ipco", "ispe");
  const places = content("iloc");
  if (places[0] !== 0 || places[4] !== 0x44 || places[5] !== 0x40) throw new Error("another iloc");
  // The first item, in one piece.
  const offset = places.readUInt32BE(12) + places.readUInt32BE(18);
  const length = places.readUInt32BE(22);
  return {
    width: size.readUInt32BE(4),
    height: size.readUInt32BE(8),
    configuration: content("iprp", "ipco", "hvcC"),
    data: heic.subarray(offset, offset + length),
  };
}

const fixture = (name: string) =>
  codedIn(readFileSync(new URL(`heics/${name}.heic`, import.meta.url)));
/** Squares of 64 pixels, each of one color. */
export const square = (
  name: "red" | "green" | "blue" | "white" | "grey" | "deep" | "orange" | "photo",
) => fixture(name);

/** Properties of the picture that turn, mirror and crop it, or say what its colors are. */
export const turnedLeft = (times: number) => box("irot", Buffer.from([times]));
export const mirrored = (axis: "sideways" | "upside-down") =>
  box("imir", Buffer.from([axis === "sideways" ? 1 : 0]));
/** A frame of a size whose centre is away from the picture's by whole or half pixels. */
export const cropped = (width: number, height: number, [right, down]: readonly [number, number]) =>
  box("clap", uint32(width, 1, height, 1, (right * 2) >>> 0, 2, (down * 2) >>> 0, 2));
export const profiled = (icc: Buffer) => box("colr", Buffer.from("prof"), icc);
export const numbered = (primaries: number, transfer: number) =>
  box("colr", Buffer.from("nclx"), uint16(primaries, transfer, 6), Buffer.from([0x80]));

/** Returns the profile that iPhones write. */
export async function displayP3(): Promise<Buffer> {
  const create = { width: 8, height: 8, channels: 3, background: "#f00" } as const;
  const { icc } = await sharp(
    await sharp({ create }).withIccProfile("p3").png().toBuffer(),
  ).metadata();
  if (icc === undefined) throw new Error("no profile");
  return icc;
}

export interface HeicParts {
  /** Tiles by row. One alone is a picture without a grid. */
  readonly tiles: readonly CodedPicture[];
  readonly columns?: number;
  /** Size of the picture, which its last tiles may exceed. The default is that of all tiles. */
  readonly width?: number;
  readonly height?: number;
  readonly properties?: readonly Buffer[];
  /** EXIF from its byte order on. */
  readonly exif?: Buffer;
  readonly xmp?: string;
  readonly thumbnail?: CodedPicture;
  /** Auxiliary pictures by their kind. */
  readonly auxiliary?: Readonly<Record<string, CodedPicture>>;
  /** Further pictures, as in a burst. They come first. */
  readonly others?: readonly CodedPicture[];
  readonly brands?: readonly string[];
  /** Whether the metadata come after the pixels. */
  readonly isMetadataLast?: boolean;
}

export const ALPHA = "urn:mpeg:hevc:2015:auxid:1";
export const DEPTH = "urn:mpeg:hevc:2015:auxid:2";
export const GAIN_MAP = "urn:com:apple:photo:2020:aux:hdrgainmap";

interface Item {
  readonly type: string;
  readonly data: Buffer;
  readonly properties: readonly Buffer[];
  readonly isHidden: boolean;
  readonly isInMeta?: boolean;
  readonly refersTo?: { readonly type: string; readonly items: readonly number[] };
}

/** Writes a HEIC as iPhones do: a grid of hidden tiles, thumbnail, auxiliary pictures and metadata. */
export function heic({ tiles, columns = 1, properties = [], ...parts }: HeicParts): Buffer {
  const [first] = tiles;
  if (first === undefined) throw new Error("no tile");
  const rows = tiles.length / columns;
  const { width = first.width * columns, height = first.height * rows } = parts;
  const items: Item[] = [];
  const add = (item: Item) => items.push(item);
  const coded = (
    { width, height, configuration, data }: CodedPicture,
    more: Partial<Item> = {},
  ): number =>
    add({
      type: "hvc1",
      data,
      isHidden: false,
      ...more,
      properties: [
        box("hvcC", configuration),
        versioned("ispe", 0, 0, uint32(width, height)),
        ...(more.properties ?? []),
      ],
    });
  for (const other of parts.others ?? []) coded(other);
  const isGrid = tiles.length > 1;
  const tileIds = tiles.map((tile) =>
    coded(tile, isGrid ? { isHidden: true } : { properties: [...properties] }),
  );
  const grid = Buffer.concat([Buffer.from([0, 1, rows - 1, columns - 1]), uint32(width, height)]);
  const primary = isGrid
    ? add({
        type: "grid",
        data: grid,
        isInMeta: true,
        isHidden: false,
        properties: [versioned("ispe", 0, 0, uint32(width, height)), ...properties],
        refersTo: { type: "dimg", items: tileIds },
      })
    : (tileIds[0] ?? 0);
  const to = (type: string) => ({ refersTo: { type, items: [primary] }, isHidden: true });
  if (parts.thumbnail !== undefined) coded(parts.thumbnail, to("thmb"));
  for (const [kind, picture] of Object.entries(parts.auxiliary ?? {})) {
    const name = versioned("auxC", 0, 0, Buffer.from(`${kind}\0`));
    coded(picture, { ...to("auxl"), properties: [name] });
  }
  const metadata = (type: string, data: Buffer) =>
    add({ type, data, properties: [], ...to("cdsc") });
  if (parts.exif !== undefined) metadata("Exif", Buffer.concat([uint32(0), parts.exif]));
  if (parts.xmp !== undefined) metadata("mime", Buffer.from(parts.xmp));

  const distinct = [
    ...new Set(items.flatMap((one) => one.properties.map((bytes) => bytes.toString("latin1")))),
  ];
  const ids = items.map((_item, index) => index + 1);
  const entries = items.map(({ type, isHidden }, index) =>
    versioned(
      "infe",
      2,
      isHidden ? 1 : 0,
      uint16(index + 1, 0),
      Buffer.from(`${type}\0${type === "mime" ? "application/rdf+xml\0" : ""}`, "latin1"),
    ),
  );
  const links = items.map(({ properties }, index) =>
    Buffer.concat([
      uint16(index + 1),
      Buffer.from([
        properties.length,
        ...properties.map((bytes) => {
          const place = distinct.indexOf(bytes.toString("latin1")) + 1;
          return ["hvcC", "irot", "imir", "clap"].includes(bytes.toString("latin1", 4, 8))
            ? place | 128
            : place;
        }),
      ]),
    ]),
  );
  const references = items.flatMap(({ refersTo }, index) =>
    refersTo === undefined
      ? []
      : [box(refersTo.type, uint16(index + 1, refersTo.items.length, ...refersTo.items))],
  );
  // Tiles that are the same are in the file once.
  const stored = [...new Set(items.filter((one) => one.isInMeta !== true).map(({ data }) => data))];
  const inMeta = items.filter((one) => one.isInMeta === true).map(({ data }) => data);
  const placeIn = (list: readonly Buffer[], data: Buffer) =>
    list.slice(0, list.indexOf(data)).reduce((sum, { length }) => sum + length, 0);
  const brands = parts.brands ?? ["heic", "mif1", "heic"];
  const [brand = "heic", ...compatible] = brands;
  const head = box(
    "ftyp",
    Buffer.from(brand, "latin1"),
    uint32(0),
    Buffer.from(compatible.join(""), "latin1"),
  );
  const meta = (pixelsAt: number) =>
    versioned(
      "meta",
      0,
      0,
      versioned("hdlr", 0, 0, uint32(0), Buffer.from("pict"), uint32(0, 0, 0), Buffer.from([0])),
      versioned("pitm", 0, 0, uint16(primary)),
      versioned(
        "iloc",
        1,
        0,
        Buffer.from([0x44, 0]),
        uint16(items.length),
        ...items.map(({ data, isInMeta = false }, index) =>
          Buffer.concat([
            uint16(index + 1, isInMeta ? 1 : 0, 0, 1),
            uint32(
              isInMeta ? placeIn(inMeta, data) : pixelsAt + placeIn(stored, data),
              data.length,
            ),
          ]),
        ),
      ),
      versioned("iinf", 0, 0, uint16(items.length), ...entries),
      ...(references.length === 0 ? [] : [versioned("iref", 0, 0, ...references)]),
      box(
        "iprp",
        box("ipco", ...distinct.map((bytes) => Buffer.from(bytes, "latin1"))),
        versioned("ipma", 0, 0, uint32(ids.length), ...links),
      ),
      box("idat", ...inMeta),
    );
  const pixels = box("mdat", ...stored);
  return parts.isMetadataLast === true
    ? Buffer.concat([head, pixels, meta(head.length + 8)])
    : Buffer.concat([head, meta(head.length + meta(0).length + 8), pixels]);
}
