const FIRST_BYTES = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
const ENTRY_BYTES = 128;
const STREAM = 2;
/** Documents of any kind are encrypted as a whole, so that only this can be known of them. */
const ENCRYPTED = "application/encrypted";
const WORD = "application/msword";
const SLIDES = "application/vnd.ms-powerpoint";
const END_OF_CHAIN = 0xffff_fff0;
/** Enough for the directory of any document without hundreds of embedded ones. */
const SECTORS_MAX = 64;
/** Sectors of a directory are usually next to each other, so they are read together. */
const TOGETHER_BYTES = 8_192;
const DIRECTORY_AT = 48;
const TABLE_AT = 76;
const TABLES_IN_HEADER = 109;
/** The beginning of a Word document: its mark, and a flag for a document that needs a password (MS-DOC, 2.5.2). */
const WORD_MARK = 0xa5ec;
const WORD_FLAGS_AT = 10;
const WORD_ENCRYPTED = 0x0100;

/** Reads the bytes from `first` to `last` of a file, or fewer if it ends before. */
export type ReadRange = (first: number, last: number) => Promise<Uint8Array>;

export interface OldOffice {
  readonly type: string;
  readonly needsPassword: boolean;
}

/** Reports whether a file may be an old Office document, whose first bytes don't show its type. */
export function isOldOffice(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, FIRST_BYTES.length)).toString("latin1") === FIRST_BYTES;
}

/**
 * Tells the type of an old Office document by the names of its streams, or that it is an encrypted one, old or new.
 * Their directory may be anywhere in the file: the header says where it begins, and a table says which sectors follow.
 */
export async function oldOffice(
  header: Uint8Array,
  size: number,
  read: ReadRange,
): Promise<OldOffice | undefined> {
  const head = Buffer.from(header.buffer, header.byteOffset, header.byteLength);
  const shift = head.length < 512 ? 0 : head.readUInt16LE(30);
  if (shift !== 9 && shift !== 12) return undefined;
  const sectors = sectorsOf({ size, read, sectorBytes: 2 ** shift });
  const streams = await streamsIn(head, sectors);
  if (streams.has("EncryptedPackage")) return { type: ENCRYPTED, needsPassword: true };
  const document = streams.get("WordDocument");
  if (document !== undefined) {
    const beginning = await sectors.at(document);
    const isWord = beginning.length > 12 && beginning.readUInt16LE(0) === WORD_MARK;
    const flags = isWord ? beginning.readUInt16LE(WORD_FLAGS_AT) : 0;
    return { type: WORD, needsPassword: (flags & WORD_ENCRYPTED) !== 0 };
  }
  // Slides that need a password have their summary encrypted as well (MS-PPT, 2.3.7).
  if (streams.has("PowerPoint Document"))
    return { type: SLIDES, needsPassword: streams.has("EncryptedSummary") };
  return undefined;
}

interface Sectors {
  readonly bytes: number;
  /** Returns a sector, or what is there of it. */
  at(index: number): Promise<Buffer>;
}

function sectorsOf(file: {
  readonly size: number;
  readonly read: ReadRange;
  readonly sectorBytes: number;
}): Sectors {
  const { size, read, sectorBytes } = file;
  let known: { readonly start: number; readonly bytes: Buffer } = {
    start: 0,
    bytes: Buffer.alloc(0),
  };
  return {
    bytes: sectorBytes,
    async at(index) {
      const start = (index + 1) * sectorBytes;
      if (start >= size) return Buffer.alloc(0);
      const end = Math.min(start + sectorBytes, size);
      if (start < known.start || end > known.start + known.bytes.length) {
        const last = Math.min(start + TOGETHER_BYTES, size) - 1;
        known = { start, bytes: Buffer.from(await read(start, last)) };
      }
      return known.bytes.subarray(start - known.start, end - known.start);
    },
  };
}

/** Returns the streams of the document itself, not of those embedded in it: names, and the sectors where they begin. */
async function streamsIn(head: Buffer, sectors: Sectors): Promise<ReadonlyMap<string, number>> {
  const entries: ZipEntry[] = [];
  let index = head.readUInt32LE(DIRECTORY_AT);
  let table: { readonly at: number; readonly sector: Buffer } = { at: -1, sector: head };
  for (let count = 0; count < SECTORS_MAX && index < END_OF_CHAIN; count += 1) {
    const sector = await sectors.at(index);
    entries.push(
      ...Array.from({ length: Math.floor(sector.length / ENTRY_BYTES) }, (_none, index) => {
        const entry = sector.subarray(index * ENTRY_BYTES);
        const length = Math.min(entry.readUInt16LE(64), 64);
        return {
          name: entry.toString("utf16le", 0, Math.max(0, length - 2)),
          type: entry[66] ?? 0,
          left: entry.readUInt32LE(68),
          right: entry.readUInt32LE(72),
          child: entry.readUInt32LE(76),
          start: entry.readUInt32LE(116),
        };
      }),
    );
    const [tableAt, entry] = [Math.floor((index * 4) / sectors.bytes), (index * 4) % sectors.bytes];
    const isListed = tableAt < TABLES_IN_HEADER;
    if (isListed && table.at !== tableAt) {
      const place = head.readUInt32LE(TABLE_AT + tableAt * 4);
      table = { at: tableAt, sector: await sectors.at(place) };
    }
    const isKnown = isListed && entry + 4 <= table.sector.length;
    // When the header's tables don't cover the directory, it is assumed to be contiguous.
    index = isKnown ? table.sector.readUInt32LE(entry) : index + 1;
  }
  const found = new Map<string, number>();
  for (const { name, type, start } of siblingsFrom(entries, entries[0]?.child))
    if (type === STREAM) found.set(name, start);
  return found;
}

interface ZipEntry {
  readonly name: string;
  readonly type: number;
  readonly left: number;
  readonly right: number;
  readonly child: number;
  readonly start: number;
}

/** Yields the entries of one folder, which are a tree (MS-CFB, 2.6.4). */
function* siblingsFrom(entries: readonly ZipEntry[], first = -1): Generator<ZipEntry> {
  const [waiting, seen] = [[first], new Set<number>()];
  for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
    const entry = entries[index];
    if (entry === undefined || seen.has(index)) continue;
    seen.add(index);
    waiting.push(entry.left, entry.right);
    yield entry;
  }
}
