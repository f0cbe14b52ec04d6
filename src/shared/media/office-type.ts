const FIRST_BYTES = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
const ENTRY_BYTES = 128;
const STREAM = 2;
/** Streams that documents of each kind have, by name. */
const STREAMS: Readonly<Record<string, string>> = {
  WordDocument: "application/msword",
  "PowerPoint Document": "application/vnd.ms-powerpoint",
};
const END_OF_CHAIN = 0xffff_fff0;
/** Enough for the directory of any document without hundreds of embedded ones. Each sector may take two calls. */
const SECTORS_MAX = 12;
const DIRECTORY_AT = 48;
const TABLE_AT = 76;
const TABLES_IN_HEADER = 109;

/** Reads the bytes from `first` to `last` of a file, or fewer if it ends before. */
export type ReadRange = (first: number, last: number) => Promise<Uint8Array>;

/** Reports whether a file may be an old Office document, whose first bytes don't show its type. */
export function isOldOffice(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, FIRST_BYTES.length)).toString("latin1") === FIRST_BYTES;
}

/**
 * Tells the type of an old Office document by the names of its streams. Their directory may be anywhere in the file:
 * the header says where it begins, and a table says which sectors follow.
 */
export async function oldOfficeType(
  header: Uint8Array,
  size: number,
  read: ReadRange,
): Promise<string | undefined> {
  const head = Buffer.from(header.buffer, header.byteOffset, header.byteLength);
  if (head.length < 512) return undefined;
  const shift = head.readUInt16LE(30);
  if (shift !== 9 && shift !== 12) return undefined;
  const sectorBytes = 2 ** shift;
  const sector = async (index: number): Promise<Buffer> => {
    const start = (index + 1) * sectorBytes;
    if (start >= size) return Buffer.alloc(0);
    return Buffer.from(await read(start, Math.min(start + sectorBytes, size) - 1));
  };
  let index = head.readUInt32LE(DIRECTORY_AT);
  let table: { readonly at: number; readonly sector: Buffer } = { at: -1, sector: head };
  for (let count = 0; count < SECTORS_MAX && index < END_OF_CHAIN; count += 1) {
    const type = typeInDirectory(await sector(index));
    if (type !== undefined) return type;
    const [tableAt, entry] = [Math.floor((index * 4) / sectorBytes), (index * 4) % sectorBytes];
    const isListed = tableAt < TABLES_IN_HEADER;
    if (isListed && table.at !== tableAt) {
      const place = head.readUInt32LE(TABLE_AT + tableAt * 4);
      table = { at: tableAt, sector: await sector(place) };
    }
    const isKnown = isListed && entry + 4 <= table.sector.length;
    // When the header's tables don't cover the directory, it is assumed to be contiguous.
    index = isKnown ? table.sector.readUInt32LE(entry) : index + 1;
  }
  return undefined;
}

function typeInDirectory(sector: Buffer): string | undefined {
  for (let at = 0; at + ENTRY_BYTES <= sector.length; at += ENTRY_BYTES) {
    const length = Math.min(sector.readUInt16LE(at + 64), 64);
    const name = sector.toString("utf16le", at, at + Math.max(0, length - 2));
    if (sector[at + 66] === STREAM && STREAMS[name] !== undefined) return STREAMS[name];
  }
  return undefined;
}
