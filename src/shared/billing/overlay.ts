import { invariant } from "../runtime/errors.ts";
import { keyOfWrite, type Row, type RowWrite, type StoredRow } from "../runtime/storage/row.ts";

/** The rows that a transaction writes, as later operations of the same transaction see them. */
export interface Overlay {
  readonly size: number;
  readonly characters: number;
  /** The row as it will be; `stored` is how it was read. */
  see(rowKey: string, stored: StoredRow | undefined): StoredRow | undefined;
  add(writes: readonly RowWrite[]): void;
  /** Returns each row once, as a transaction requires. */
  writes(): RowWrite[];
}

function mergeRows(first: Row, second: Row): Row {
  return { ...first, ...second };
}

/** Merges two writes of one row: the first one's condition, the second one's content. */
function combine(first: RowWrite, second: RowWrite): RowWrite | undefined {
  if (first.kind === "delete") {
    invariant(second.kind === "create", "a row is changed after it was deleted");
    // Like a delete, it requires the row to be there, in any version.
    return { kind: "replace", row: second.row, etag: "*" };
  }
  if (second.kind === "delete") return first.kind === "create" ? undefined : second;
  invariant(second.kind !== "create", "a row is created twice");
  const row = second.kind === "merge" ? mergeRows(first.row, second.row) : second.row;
  if (first.kind === "create") return { kind: "create", row };
  const kind = second.kind === "merge" ? first.kind : "replace";
  return { kind, row, etag: first.etag };
}

export function createOverlay(): Overlay {
  const byKey = new Map<string, RowWrite>();
  let characters = 0;
  return {
    get size() {
      return byKey.size;
    },
    get characters() {
      return characters;
    },
    see(rowKey, stored) {
      const write = byKey.get(rowKey);
      if (write === undefined) return stored;
      if (write.kind === "delete") return undefined;
      const etag = write.kind === "create" ? "" : write.etag;
      if (write.kind !== "merge") return { row: write.row, etag };
      return stored === undefined ? undefined : { row: mergeRows(stored.row, write.row), etag };
    },
    add(writes) {
      characters += JSON.stringify(writes).length;
      for (const write of writes) {
        const earlier = byKey.get(keyOfWrite(write));
        const combined = earlier === undefined ? write : combine(earlier, write);
        if (combined === undefined) byKey.delete(keyOfWrite(write));
        else byKey.set(keyOfWrite(write), combined);
      }
    },
    writes: () => [...byKey.values()],
  };
}
