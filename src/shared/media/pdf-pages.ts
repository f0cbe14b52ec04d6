import { inflateSync } from "node:zlib";
import type { MediaFile } from "../networks/contract/media.ts";
import type { ReadRange } from "./office-type.ts";
import { latin1, type PdfEnd } from "./pdf-end.ts";

/** Enough for an object, for most cross-reference tables, and for the list of a thousand pages. */
const CHUNK_BYTES = 131_072;
/** How far a table or a stream is read, and how long it may be without its compression. */
const STREAM_BYTES_MAX = 1024 * 1024;
const INFLATED_BYTES_MAX = 4 * 1024 * 1024;
/** Each update of a file adds a section. */
const SECTIONS_MAX = 16;
/** Beside that of the end. */
const READS_MAX = 23;
/** A file of thousands of pages with pictures has fewer objects. */
const OBJECTS_MAX = 200_000;

/** Where an object is: at an offset of the file, or within a stream of objects. */
type ObjectPlace = { readonly at: number } | { readonly stream: number };

interface Section {
  readonly places: ReadonlyMap<number, ObjectPlace>;
  /** The dictionary that says which object is the root, and where the section before this one is. */
  readonly trailer: string;
}

/** A part of the file as Latin-1, and a way to get more of it. */
interface Text {
  readonly text: string;
  /** Returns the part again, at least up to where the word is, or as long as allowed. */
  until(word: string): Promise<string>;
}

/** Thrown when a file is not in the form that its parts promise. Its number of pages is unknown then. */
class Unreadable extends Error {}

/**
 * Reads the number of pages of a PDF, from its list of pages (ISO 32000-1, 7.5 and 7.7.3), and whether it is a form
 * that the program which shows it has to make (12.7.8). Nothing if the file doesn't show it within a limited number of
 * reads, so that the network has to count the pages.
 */
export async function pdfFacts(
  { size, lastSection }: PdfEnd,
  read: ReadRange,
): Promise<Pick<MediaFile, "pages" | "isDynamicForm">> {
  try {
    return await factsFrom(lastSection, limited(size, read));
  } catch (error) {
    if (error instanceof Unreadable) return {};
    throw error;
  }
}

function limited(size: number, read: ReadRange) {
  let reads = 0;
  const textAt = async (start: number, length: number): Promise<string> => {
    reads += 1;
    if (reads > READS_MAX || start < 0 || start >= size) throw new Unreadable("out of reach");
    return latin1(await read(start, Math.min(start + length, size) - 1));
  };
  return async (start: number): Promise<Text> => {
    let text = await textAt(start, CHUNK_BYTES);
    return {
      text,
      async until(word) {
        while (!text.includes(word) && text.length < STREAM_BYTES_MAX && start + text.length < size)
          text += await textAt(start + text.length, CHUNK_BYTES * 2);
        return text;
      },
    };
  };
}

type ReadText = ReturnType<typeof limited>;

async function factsFrom(
  lastSection: number | undefined,
  readText: ReadText,
): ReturnType<typeof pdfFacts> {
  const places = new Map<number, ObjectPlace>();
  let [root, isEncrypted]: [number | undefined, boolean] = [undefined, false];
  let next = lastSection;
  for (let count = 0; count < SECTIONS_MAX && next !== undefined; count += 1) {
    const section = await sectionAt(next, readText);
    isEncrypted ||= /\/Encrypt\b/.test(section.trailer);
    // The newest section comes first.
    addNew(places, section);
    root ??= referenceIn(section.trailer, "/Root");
    const before = numberIn(section.trailer, "/Prev");
    // A file for old and new readers has a table and, beside it, a stream.
    const beside = numberIn(section.trailer, "/XRefStm");
    if (beside !== undefined) addNew(places, await sectionAt(beside, readText));
    next = before;
  }
  const objects = { places, readText, isEncrypted };
  const catalog = await objectText(root, objects);
  const isDynamicForm = /\/NeedsRendering\s{1,9}true\b/.test(catalog);
  const pages = numberIn(await objectText(referenceIn(catalog, "/Pages"), objects), "/Count");
  return {
    ...(pages === undefined ? {} : { pages }),
    ...(isDynamicForm ? { isDynamicForm } : {}),
  };
}

function addNew(places: Map<number, ObjectPlace>, section: Section): void {
  for (const [number, place] of section.places) if (!places.has(number)) places.set(number, place);
  if (places.size > OBJECTS_MAX) throw new Unreadable("too many objects");
}

const INTEGER = /\s{0,9}(\d{1,15})(?!\d)(?!\s{1,9}\d{1,5}\s{1,9}R)/y;
const REFERENCE = /\s{0,9}(\d{1,9})\s{1,9}\d{1,5}\s{1,9}R/y;
const INTEGERS = /\s{0,9}\[([\d\s]{0,2000})\]/y;

/** Returns what a dictionary has behind a name, in this form. */
function valueIn(dictionary: string, name: string, form: RegExp): string | undefined {
  for (let at = dictionary.indexOf(name); at >= 0; at = dictionary.indexOf(name, at + 1)) {
    form.lastIndex = at + name.length;
    const [, value] = form.exec(dictionary) ?? [];
    if (value !== undefined) return value;
  }
  return undefined;
}

function numberIn(dictionary: string, name: string): number | undefined {
  const digits = valueIn(dictionary, name, INTEGER);
  return digits === undefined ? undefined : Number(digits);
}

function referenceIn(dictionary: string, name: string): number | undefined {
  const digits = valueIn(dictionary, name, REFERENCE);
  return digits === undefined ? undefined : Number(digits);
}

function numbersIn(dictionary: string, name: string): number[] {
  return (valueIn(dictionary, name, INTEGERS) ?? "")
    .trim()
    .split(/\s+/)
    .filter(Boolean)
    .map(Number);
}

async function sectionAt(at: number, readText: ReadText): Promise<Section> {
  const chunk = await readText(at);
  return /^\s{0,9}xref\b/.test(chunk.text) ? tableIn(chunk) : streamIn(chunk);
}

const ENTRY = /\s{0,9}(\d{1,10})\s{1,9}(\d{1,5})\s{1,9}([nf])/y;
const SUBSECTION = /\s{0,9}(\d{1,9})\s{1,9}(\d{1,9})\s/y;

/** Reads a cross-reference table (7.5.4). */
async function tableIn(chunk: Text): Promise<Section> {
  const text = await chunk.until("startxref");
  const places = new Map<number, ObjectPlace>();
  let at = text.indexOf("xref") + "xref".length;
  for (;;) {
    SUBSECTION.lastIndex = at;
    const [head, first, count] = SUBSECTION.exec(text) ?? [];
    if (head === undefined) break;
    at = SUBSECTION.lastIndex;
    for (let index = 0; index < Number(count); index += 1) {
      ENTRY.lastIndex = at;
      const [entry, offset, , kind] = ENTRY.exec(text) ?? [];
      if (entry === undefined) break;
      at = ENTRY.lastIndex;
      if (kind === "n") places.set(Number(first) + index, { at: Number(offset) });
    }
  }
  const rest = text.slice(at);
  const trailer = rest.slice(rest.indexOf("trailer"), rest.indexOf("startxref"));
  if (!trailer.includes("<<")) throw new Unreadable("no trailer");
  return { places, trailer };
}

/** Reads a cross-reference stream (7.5.8). */
async function streamIn(chunk: Text): Promise<Section> {
  const { dictionary, bytes } = await streamOf(chunk);
  const widths = numbersIn(dictionary, "/W");
  const rowBytes = widths.reduce((sum, width) => sum + width, 0);
  if (widths.length !== 3 || rowBytes < 1 || rowBytes > 32) throw new Unreadable("no table");
  if (bytes.length / rowBytes > OBJECTS_MAX) throw new Unreadable("too many objects");
  const [typeBytes = 0, secondBytes = 0] = widths;
  const ranges = numbersIn(dictionary, "/Index");
  const places = new Map<number, ObjectPlace>();
  let at = 0;
  const field = (length: number) => {
    let value = 0;
    for (let end = at + length; at < end; at += 1) value = value * 256 + (bytes[at] ?? 0);
    return value;
  };
  for (let range = 0; range < Math.max(1, ranges.length); range += 2) {
    const first = ranges[range] ?? 0;
    const count = ranges[range + 1] ?? Infinity;
    for (let index = 0; index < count && at + rowBytes <= bytes.length; index += 1) {
      const type = typeBytes === 0 ? 1 : field(typeBytes);
      const second = field(secondBytes);
      field(widths[2] ?? 0);
      if (type === 1) places.set(first + index, { at: second });
      if (type === 2) places.set(first + index, { stream: second });
    }
  }
  return { places, trailer: dictionary };
}

const OBJECT = /^\s{0,9}(\d{1,9})\s{1,9}\d{1,5}\s{1,9}obj\b/;
const DICTIONARY_BYTES_MAX = 20_000;

/** Returns a stream's dictionary and its bytes without their compression. */
async function streamOf(
  chunk: Text,
): Promise<{ readonly dictionary: string; readonly bytes: Buffer }> {
  const text = await chunk.until("endstream");
  const [head] = OBJECT.exec(text) ?? [];
  const at = head === undefined ? -1 : text.indexOf("stream", head.length);
  if (head === undefined || at < 0 || at > DICTIONARY_BYTES_MAX) throw new Unreadable("no stream");
  const dictionary = text.slice(head.length, at);
  const start = at + "stream".length + (text.startsWith("\r\n", at + "stream".length) ? 2 : 1);
  const length = numberIn(dictionary, "/Length") ?? text.indexOf("endstream", start) - start;
  const raw = Buffer.from(text.slice(start, start + length), "latin1");
  if (!/\/Filter\b/.test(dictionary)) return { dictionary, bytes: raw };
  if (!/\/Filter\s{0,9}\[?\s{0,9}\/FlateDecode\s{0,9}(?:\]|\/|>|$)/.test(dictionary.trimEnd()))
    throw new Unreadable("another compression");
  try {
    const inflated = inflateSync(raw, { maxOutputLength: INFLATED_BYTES_MAX });
    return { dictionary, bytes: unpredicted(inflated, dictionary) };
  } catch {
    throw new Unreadable("damaged compression");
  }
}

/** Undoes the differences between rows, which compress better than the rows (7.4.4.4). */
function unpredicted(bytes: Buffer, dictionary: string): Buffer {
  if ((numberIn(dictionary, "/Predictor") ?? 1) < 10) return bytes;
  const columns = numberIn(dictionary, "/Columns") ?? 1;
  const rows = Math.floor(bytes.length / (columns + 1));
  const result = Buffer.alloc(rows * columns);
  for (let row = 0; row < rows; row += 1) {
    const filter = bytes[row * (columns + 1)];
    for (let column = 0; column < columns; column += 1) {
      const at = row * columns + column;
      const left = column > 0 ? (result[at - 1] ?? 0) : 0;
      const above = row > 0 ? (result[at - columns] ?? 0) : 0;
      const before = row > 0 && column > 0 ? (result[at - columns - 1] ?? 0) : 0;
      const value = bytes[row * (columns + 1) + 1 + column] ?? 0;
      result[at] = value + predicted(filter ?? 0, left, above, before);
    }
  }
  return result;
}

function predicted(filter: number, left: number, above: number, before: number): number {
  if (filter === 1) return left;
  if (filter === 2) return above;
  if (filter === 3) return (left + above) >> 1;
  if (filter !== 4) return 0;
  const guess = left + above - before;
  const [toLeft, toAbove, toBefore] = [left, above, before].map((one) => Math.abs(guess - one));
  if ((toLeft ?? 0) <= (toAbove ?? 0) && (toLeft ?? 0) <= (toBefore ?? 0)) return left;
  return (toAbove ?? 0) <= (toBefore ?? 0) ? above : before;
}

interface Objects {
  readonly places: ReadonlyMap<number, ObjectPlace>;
  readonly readText: ReadText;
  /** Then streams can't be read, except those of the table. Dictionaries outside of them can. */
  readonly isEncrypted: boolean;
}

/** Returns the beginning of an object's text. */
async function objectText(
  number: number | undefined,
  { places, readText, isEncrypted }: Objects,
): Promise<string> {
  const place = places.get(number ?? -1);
  if (place === undefined) throw new Unreadable("no such object");
  if ("at" in place) {
    const { text } = await readText(place.at);
    const [head, named] = OBJECT.exec(text) ?? [];
    if (head === undefined || Number(named) !== number) throw new Unreadable("another object");
    const end = text.indexOf("endobj");
    return text.slice(head.length, end < 0 ? undefined : end);
  }
  const holder = places.get(place.stream);
  if (isEncrypted) throw new Unreadable("encrypted");
  if (holder === undefined || !("at" in holder)) throw new Unreadable("no such stream");
  const { dictionary, bytes } = await streamOf(await readText(holder.at));
  const first = numberIn(dictionary, "/First") ?? 0;
  const header = bytes.toString("latin1", 0, first).trim().split(/\s+/).map(Number);
  for (let index = 0; index + 1 < header.length; index += 2) {
    if (header[index] !== number) continue;
    const start = first + (header[index + 1] ?? 0);
    const end = header[index + 3];
    return bytes.toString("latin1", start, end === undefined ? bytes.length : first + end);
  }
  throw new Unreadable("not in its stream");
}
