import type { PictureParts } from "./parts.ts";

interface Box {
  readonly type: string;
  /** Where it begins, where its content begins, and where it ends. */
  readonly start: number;
  readonly content: number;
  readonly end: number;
}

const BOXES_MAX = 10_000;

/** Lists the boxes of a range; the last may be cut off. */
function boxesOf(file: Buffer, start: number, end: number): Box[] {
  const boxes: Box[] = [];
  let at = start;
  while (at + 8 <= end) {
    if (boxes.length >= BOXES_MAX) throw new RangeError("too many boxes");
    const length = file.readUInt32BE(at);
    const type = file.toString("latin1", at + 4, at + 8);
    const isLong = length === 1;
    const size = isLong ? Number(file.readBigUInt64BE(at + 8)) : length || end - at;
    if (size < (isLong ? 16 : 8)) throw new RangeError("a box shorter than its head");
    boxes.push({ type, start: at, content: at + (isLong ? 16 : 8), end: at + size });
    at += size;
  }
  return boxes;
}

/** A range of the file that an item of the picture is made of. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/** Reads numbers one after the other. */
class Cursor {
  readonly #file: Buffer;
  #at: number;

  constructor(file: Buffer, at: number) {
    this.#file = file;
    this.#at = at;
  }

  next(bytes: number): number {
    if (bytes === 0) return 0;
    const at = this.#at;
    this.#at += bytes;
    return bytes === 8 ? Number(this.#file.readBigUInt64BE(at)) : this.#file.readUIntBE(at, bytes);
  }
}

const FULL_HEAD = 4;
const versionOf = (file: Buffer, box: Box) => file.readUInt8(box.content);

/** Returns the types of the items by their ids. */
function itemTypes(file: Buffer, box: Box): Map<number, string> {
  const countBytes = versionOf(file, box) === 0 ? 2 : 4;
  const entries = boxesOf(file, box.content + FULL_HEAD + countBytes, box.end);
  return new Map(
    entries.map((entry) => {
      const idBytes = versionOf(file, entry) === 3 ? 4 : 2;
      const at = entry.content + FULL_HEAD;
      const type = file.toString("latin1", at + idBytes + 2, at + idBytes + 6);
      return [file.readUIntBE(at, idBytes), type];
    }),
  );
}

interface Reference {
  readonly type: string;
  readonly from: number;
  readonly to: readonly number[];
}

function referencesOf(file: Buffer, box: Box): Reference[] {
  const idBytes = versionOf(file, box) === 0 ? 2 : 4;
  return boxesOf(file, box.content + FULL_HEAD, box.end).map(({ type, content }) => {
    const cursor = new Cursor(file, content);
    const from = cursor.next(idBytes);
    const count = cursor.next(2);
    return { type, from, to: Array.from({ length: count }, () => cursor.next(idBytes)) };
  });
}

/** Returns the ranges of each item; of what is stored otherwise than as ranges of the file, undefined. */
function itemRanges(file: Buffer, box: Box, dataAt: number): Map<number, readonly Range[]> {
  const version = versionOf(file, box);
  const cursor = new Cursor(file, box.content + FULL_HEAD);
  const [sizes, bases] = [cursor.next(1), cursor.next(1)];
  const idBytes = version < 2 ? 2 : 4;
  const items = new Map<number, readonly Range[]>();
  const count = cursor.next(idBytes);
  for (let index = 0; index < count; index += 1) {
    const id = cursor.next(idBytes);
    const method = version === 0 ? 0 : cursor.next(2) & 15;
    cursor.next(2);
    if (method > 1) throw new RangeError("an item made of others");
    const base = cursor.next(bases >> 4) + (method === 1 ? dataAt : 0);
    const extents = Array.from({ length: cursor.next(2) }, () => {
      cursor.next(version === 0 ? 0 : bases & 15);
      const start = base + cursor.next(sizes >> 4);
      return { start, end: start + cursor.next(sizes & 15) };
    });
    items.set(id, extents);
  }
  return items;
}

/** Pictures, and how they are put together from others. */
const PICTURE_ITEMS: ReadonlySet<string> = new Set(["av01", "hvc1", "grid", "iden", "iovl"]);
const META_BOXES: ReadonlySet<string> = new Set("hdlr pitm iinf iref iprp iloc idat".split(" "));
const TOP_BOXES: ReadonlySet<string> = new Set(["ftyp", "meta", "mdat"]);
const ALPHA = /urn:mpeg:(?:mpegB:cicp:systems:auxiliary:alpha|hevc:2015:auxid:1)/;
/** Metadata as an item. */
const METADATA_ITEMS: ReadonlySet<string> = new Set(["Exif", "mime", "uri "]);

/** Returns the ids of the picture that is shown, of its tiles, and of its transparency. */
function shownItems(
  first: number,
  references: readonly Reference[],
  hasAlpha: boolean,
): Set<number> {
  const shown = new Set([first]);
  for (const id of shown)
    for (const { type, from, to } of references) {
      if (type === "dimg" && from === id) for (const part of to) shown.add(part);
      // What else is auxiliary, such as a map of distances, does not count when there is no transparency.
      if (type === "auxl" && hasAlpha && to.includes(id)) shown.add(from);
    }
  return shown;
}

interface Contents {
  readonly top: readonly Box[];
  readonly meta: Box;
  readonly boxes: readonly Box[];
  readonly list: Box;
  /** Where the picture that is shown is stored, and whether all of it is known to be a picture. */
  readonly ranges: readonly Range[];
  readonly shown: ReadonlySet<number>;
  readonly isPicture: boolean;
  /** Types of the other items. */
  readonly others: readonly string[];
}

/** Reads what the file has. @throws RangeError when a box is missing, or says what it can't */
function contentsOf(file: Buffer): Contents {
  const top = boxesOf(file, 0, file.length);
  const named = (boxes: readonly Box[], name: string) => {
    const found = boxes.find(({ type }) => type === name);
    if (found === undefined) throw new RangeError(`no ${name}`);
    return found;
  };
  const meta = named(top, "meta");
  const boxes = boxesOf(file, meta.content + FULL_HEAD, Math.min(meta.end, file.length));
  const [first, list, properties] = [
    named(boxes, "pitm"),
    named(boxes, "iinf"),
    named(boxes, "iprp"),
  ];
  const types = itemTypes(file, list);
  const references = boxes.flatMap((box) => (box.type === "iref" ? referencesOf(file, box) : []));
  const id = file.readUIntBE(first.content + FULL_HEAD, versionOf(file, first) === 0 ? 2 : 4);
  const words = file.toString("latin1", properties.start, properties.end);
  const shown = shownItems(id, references, ALPHA.test(words));
  const data = boxes.find(({ type }) => type === "idat");
  const items = itemRanges(file, named(boxes, "iloc"), data?.content ?? 0);
  return {
    top,
    meta,
    boxes,
    list,
    ranges: [...shown].flatMap((item) => [...(items.get(item) ?? [])]),
    shown,
    isPicture: [...shown].every((item) => PICTURE_ITEMS.has(types.get(item) ?? "")),
    others: [...types].flatMap(([item, type]) => (shown.has(item) ? [] : [type])),
  };
}

/**
 * Keeps the picture that is shown of an AVIF or HEIC: its items stay where they are, since offsets lead to them, and
 * all other bytes become zeros.
 */
export function heifParts(file: Buffer): PictureParts {
  const contents = contentsOf(file);
  const { top, ranges, others, isPicture } = contents;
  const isMoving = top.some(({ type }) => type === "moov");
  const hasMetadata = others.some((type) => METADATA_ITEMS.has(type));
  const isMore = !others.every((type) => METADATA_ITEMS.has(type));
  const facts = { hasMetadata, frames: isMoving ? 2 : 1 };
  const isWhole = [...top, ...ranges].every(({ end }) => end <= file.length);
  if (!isWhole || !isPicture || isMoving) return { ...facts, hasExtras: isMore, kept: null };
  const kept = keptOf(file, contents);
  return { ...facts, hasExtras: (isMore || !hasMetadata) && !kept.equals(file), kept: [kept] };
}

function keptOf(file: Buffer, { top, meta, boxes, list, ranges, shown }: Contents): Buffer {
  const isKept = ({ type }: Box) => type === "ftyp" || (META_BOXES.has(type) && type !== "idat");
  const heads = [...top, ...boxes].map((box) => ({
    start: box.start,
    end: isKept(box) ? box.end : box.content,
  }));
  const metaHead = { start: meta.content, end: meta.content + FULL_HEAD };
  const kept = blank(file, [...heads, metaHead, ...ranges]);
  for (const { type, start } of [...top, ...boxes])
    if (!META_BOXES.has(type) && !TOP_BOXES.has(type)) kept.write("free", start + 4, "latin1");
  hideItems(kept, list, shown);
  return kept;
}

/** Returns the file with zeros in place of all that is in none of the ranges. */
function blank(file: Buffer, ranges: readonly Range[]): Buffer {
  const blanked = Buffer.alloc(file.length);
  for (const { start, end } of ranges) file.copy(blanked, start, start, end);
  return blanked;
}

/** Marks the items whose content is gone as unknown, or readers would try to read them. */
function hideItems(file: Buffer, box: Box, shown: ReadonlySet<number>): void {
  const countBytes = versionOf(file, box) === 0 ? 2 : 4;
  for (const entry of boxesOf(file, box.content + FULL_HEAD + countBytes, box.end)) {
    const idBytes = versionOf(file, entry) === 3 ? 4 : 2;
    const at = entry.content + FULL_HEAD;
    if (!shown.has(file.readUIntBE(at, idBytes))) file.write("skip", at + idBytes + 2, "latin1");
  }
}
