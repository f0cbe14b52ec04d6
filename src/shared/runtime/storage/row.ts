import { invariant } from "../errors.ts";

/** The values of a row's property. Numbers are Int32, times are ISO 8601 text, and an absent value is "". */
export type RowValue = string | number | boolean;

export interface Row {
  readonly rowKey: string;
  readonly [property: string]: RowValue;
}

export type Columns = Readonly<Record<string, RowValue>>;

/** A row as it was read, with the version that a conditional write has to name. */
export interface StoredRow {
  readonly row: Row;
  readonly etag: string;
}

/** One write of an entity group transaction. Each row may appear in it only once. */
export type RowWrite =
  | { readonly kind: "create"; readonly row: Row }
  /** For a row that takes on another meaning: no column of the old one is left. */
  | { readonly kind: "replace"; readonly row: Row; readonly etag: string }
  /** Changes only the named properties, so that columns of a later build are preserved. */
  | { readonly kind: "merge"; readonly row: Row; readonly etag: string }
  /** Deletes any version of the row. The transaction is refused when the row is gone. */
  | { readonly kind: "delete"; readonly rowKey: string };

export function keyOfWrite(write: RowWrite): string {
  return write.kind === "delete" ? write.rowKey : write.row.rowKey;
}

export const creation = (row: Row): RowWrite => ({ kind: "create", row });

/** Writes a row regardless of what is stored. Commits to a platform's partition know their rows and never use this. */
export interface RowPut {
  readonly kind: "put";
  readonly row: Row;
}

/** A change of a row that was read or is absent. Merging into an absent row, or removing it, does nothing. */
export type RowChange =
  | { readonly kind: "leave" }
  | { readonly kind: "remove" }
  /** Creates or replaces the whole row. Columns that this build doesn't know are lost. */
  | { readonly kind: "write"; readonly columns: Columns }
  /** Creates the row, or merges the columns into the stored one. */
  | { readonly kind: "keep"; readonly columns: Columns }
  | { readonly kind: "merge"; readonly columns: Columns };

/** The result of a change, with the row as it is afterwards. */
export type ChangedRow =
  | { readonly kind: "created" | "replaced" | "merged"; readonly row: Row }
  | { readonly kind: "removed"; readonly row: undefined }
  | { readonly kind: "left"; readonly row: Row | undefined };

/**
 * The result of a transaction.
 *
 * - `refused`: this call applied nothing, because another write came first (possibly an earlier try of this one). `at`
 *   is the index of the write whose condition was not met, if the service names it.
 * - `in_doubt`: the transaction may be applied now, later or never. `isBusy` says that the service or the partition was
 *   overloaded.
 */
export type TransactionResult =
  | { readonly kind: "applied"; readonly etags: ReadonlyMap<string, string> }
  | { readonly kind: "refused"; readonly at?: number | undefined }
  | { readonly kind: "in_doubt"; readonly cause: unknown; readonly isBusy?: boolean };

/** A transaction that the service will never accept, for example because a row is too large or a name is invalid. */
export class InvalidTransaction extends Error {
  /** Index of the write that caused the error, if the service names it. */
  readonly at: number | undefined;

  constructor(at: number | undefined, cause: unknown) {
    super("storage accepts no such transaction", { cause });
    this.name = "InvalidTransaction";
    this.at = at;
  }
}

/** Maximum length of a text property: 64 KiB of UTF-16. */
export const PROPERTY_LENGTH_MAX = 32_000;
/** A row could not hold more. */
const CHUNKS_MAX = 20;

/** Reports whether a chunk is full. A chunk that ends before a surrogate pair is one character shorter. */
const isFull = (chunk: string) => chunk.length >= PROPERTY_LENGTH_MAX - 1;

/**
 * Splits text into the properties `<name>0`, `<name>1` and so on, but never inside a surrogate pair, which JSON can't
 * express. The last chunk is shorter than the others and may be empty, which marks the end of the text.
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

/** Splits text into chunks to merge into a row. Chunks that a longer text has left in the row are emptied. */
export function replacedChunks(name: string, text: string, row: Row): Record<string, string> {
  const isChunk = (property: string) =>
    property.startsWith(name) && /^\d+$/.test(property.slice(name.length));
  const emptied = Object.keys(row).filter(isChunk);
  return {
    ...Object.fromEntries(emptied.map((property) => [property, ""])),
    ...toChunks(name, text),
  };
}
