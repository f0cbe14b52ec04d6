import type { ReadRange } from "./office-type.ts";

/** The record at the end of a zip file may be followed by a comment of this length. */
const COMMENT_BYTES_MAX = 65_535;
const RECORD_BYTES = 22;
const RECORD = Buffer.from("PK\x05\x06", "latin1");
/** The list of a thousand slides has 150 KB, and that of any document is shorter than this. */
const LIST_BYTES_MAX = 2 * 1024 * 1024;
const ENTRY_BYTES = 46;
const SLIDE = /^ppt\/slides\/slide\d{1,6}\.xml$/;

/** What programs name the part with a document's macros. */
const MACROS = /(?:^|\/)vbaProject\.bin$/i;

export interface OfficeParts {
  /** Undefined for a document without slides. */
  readonly slides: number | undefined;
  readonly hasMacros: boolean;
}

/**
 * Reads what a newer Office document holds from the list of its parts at the end of its file (APPNOTE 4.3.12).
 * Undefined if the list isn't there.
 */
export async function officeParts(size: number, read: ReadRange): Promise<OfficeParts | undefined> {
  const start = Math.max(0, size - RECORD_BYTES - COMMENT_BYTES_MAX);
  const end = Buffer.from(await read(start, size - 1));
  const at = end.lastIndexOf(RECORD);
  if (at < 0 || at + RECORD_BYTES > end.length) return undefined;
  const [length, offset] = [end.readUInt32LE(at + 12), end.readUInt32LE(at + 16)];
  if (length === 0 || length > LIST_BYTES_MAX || offset + length > size) return undefined;
  const isKnown = offset >= start;
  const list = isKnown
    ? end.subarray(offset - start, offset - start + length)
    : Buffer.from(await read(offset, offset + length - 1));
  const names = namesIn(list);
  const slides = names.filter((name) => SLIDE.test(name)).length;
  return {
    slides: slides === 0 ? undefined : slides,
    hasMacros: names.some((name) => MACROS.test(name)),
  };
}

function namesIn(list: Buffer): string[] {
  const names: string[] = [];
  let at = 0;
  while (at + ENTRY_BYTES <= list.length) {
    const [name = 0, extra = 0, comment = 0] = [28, 30, 32].map((offset) =>
      list.readUInt16LE(at + offset),
    );
    names.push(list.toString("latin1", at + ENTRY_BYTES, at + ENTRY_BYTES + name));
    at += ENTRY_BYTES + name + extra + comment;
  }
  return names;
}
