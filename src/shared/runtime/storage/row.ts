import { invariant } from "../errors.ts";

/** What a property of a row can hold. Numbers are integers within Int32; times are ISO 8601 text; absent is "". */
export type RowValue = string | number | boolean;

export interface Row {
  readonly rowKey: string;
  readonly [property: string]: RowValue;
}

/** Columns of a row, by name. */
export type Columns = Readonly<Record<string, RowValue>>;

/** A row as it was read, with the version that a conditional write has to name. */
export interface StoredRow {
  readonly row: Row;
  readonly etag: string;
}

/** One write of an entity group transaction. Every row may appear once in it. */
export type RowWrite =
  | { readonly kind: "create"; readonly row: Row }
  /** For a row that becomes another thing: nothing of what was there is kept. */
  | { readonly kind: "replace"; readonly row: Row; readonly etag: string }
  /** Changes only the named properties, so that those of a later build stay. */
  | { readonly kind: "merge"; readonly row: Row; readonly etag: string }
  /** Deletes any version. Refused when the row is gone. */
  | { readonly kind: "delete"; readonly rowKey: string };

export function keyOfWrite(write: RowWrite): string {
  return write.kind === "delete" ? write.rowKey : write.row.rowKey;
}

/** Writes a row whatever was there. The commits of a platform's wallet know their rows and never use it. */
export interface RowPut {
  readonly kind: "put";
  readonly row: Row;
}

/** A change of a row that was read or is absent. Merging into an absent row, or removing it, does nothing. */
export type RowChange =
  | { readonly kind: "leave" }
  | { readonly kind: "remove" }
  /** The whole row: created where there was none, and replaced where there was one, also what this build does not know. */
  | { readonly kind: "write"; readonly columns: Columns }
  /** The columns of this build: created where there was no row, and merged into one that is there. */
  | { readonly kind: "keep"; readonly columns: Columns }
  /** The named columns alone. */
  | { readonly kind: "merge"; readonly columns: Columns };

/** The result of a change, with the row after it. */
export type ChangedRow =
  | { readonly kind: "created" | "replaced" | "merged"; readonly row: Row }
  | { readonly kind: "removed"; readonly row: undefined }
  | { readonly kind: "left"; readonly row: Row | undefined };

/**
 * The result of a transaction. `refused`: this call applied nothing (another write, or an earlier try of this one, was
 * first); `at` is the index of the write whose condition was not met, when the service names it. `in_doubt`: it may be
 * applied now, later or never; `isBusy` when the service, or the partition, had too much to do.
 */
export type TransactionResult =
  | { readonly kind: "applied"; readonly etags: ReadonlyMap<string, string> }
  | { readonly kind: "refused"; readonly at?: number | undefined }
  | { readonly kind: "in_doubt"; readonly cause: unknown; readonly isBusy?: boolean };

/** A transaction that the service will never take, however often it is sent: a row is too large, a name is wrong. */
export class InvalidTransaction extends Error {
  /** The index of the write at fault, where the service names it. */
  readonly at: number | undefined;

  constructor(at: number | undefined, cause: unknown) {
    super("storage takes no such transaction", { cause });
    this.name = "InvalidTransaction";
    this.at = at;
  }
}

/** Longest text of one property: 64 KiB of UTF-16. */
export const PROPERTY_LENGTH_MAX = 32_000;
/** More would not fit into a row anyway. */
const CHUNKS_MAX = 20;

/** Returns whether a chunk is full: one before a surrogate pair is one character shorter. */
const isFull = (chunk: string) => chunk.length >= PROPERTY_LENGTH_MAX - 1;

/**
 * Splits text into properties `<name>0`, `<name>1` …; never inside a surrogate pair, which JSON can't express. The last
 * one is shorter than the others and may be empty: a longer text that was there before is no part of the new one.
 */
export function toChunks(name: string, text: string): Record<string, string> {
  const chunks: Record<string, string> = {};
  let start = 0;
  let isEnded = false;
  for (let index = 0; !isEnded; index += 1) {
    invariant(index < CHUNKS_MAX, `${name} is longer than a row can hold`);
    let end = Math.min(start + PROPERTY_LENGTH_MAX, text.length);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end -= 1;
    const chunk = text.slice(start, end);
    chunks[`${name}${index}`] = chunk;
    start = end;
    isEnded = start === text.length && (!isFull(chunk) || index + 1 === CHUNKS_MAX);
  }
  return chunks;
}

export function fromChunks(name: string, row: Row): string {
  let text = "";
  for (let index = 0; index < CHUNKS_MAX; index += 1) {
    const chunk = row[`${name}${index}`];
    if (typeof chunk !== "string") break;
    text += chunk;
    if (!isFull(chunk)) break;
  }
  return text;
}

/** Returns chunks to merge into a row, with the chunks that a longer text left there emptied. */
export function replacedChunks(name: string, text: string, row: Row): Record<string, string> {
  const isChunk = (property: string) =>
    property.startsWith(name) && /^\d+$/.test(property.slice(name.length));
  const emptied = Object.keys(row).filter(isChunk);
  return {
    ...Object.fromEntries(emptied.map((property) => [property, ""])),
    ...toChunks(name, text),
  };
}
