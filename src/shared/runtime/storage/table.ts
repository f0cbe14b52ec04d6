import { serviceUnavailable } from "../errors.ts";
import { failureOf, isDefinite, isOverloaded, retryHarmless } from "./failure.ts";
import { LOST, retryLostRaces } from "../retry-lost-races.ts";
import { applyChange } from "./apply-change.ts";
import {
  InvalidTransaction,
  type ChangedRow,
  type Row,
  type RowChange,
  type RowPut,
  type RowValue,
  type RowWrite,
  type StoredRow,
  type TransactionResult,
} from "./row.ts";
import { filterOf, type RowRange, type SelectedPage, type Selection } from "./selection.ts";
import type { PageQuery, SingleWrite, TableWire } from "./table-wire.ts";
import { RequestGate } from "./request-gate.ts";
import { SharedReads } from "./shared-reads.ts";
import { writeInBatches } from "./write-batches.ts";
import { inBatches } from "../promises.ts";

/** Shorter than the service's own limit of 30 s. The outcome of a call that takes longer is unknown. */
const CALL_TIMEOUT_MS = 10_000;
/** The service's own maximum. */
const PAGE_ROWS_MAX = 1_000;
const PAGES_MAX = 1_000;
const REMOVALS_AT_ONCE = 4;

/** Returns a row key that sorts after all keys with this prefix. */
export function afterPrefix(prefix: string): string {
  return `${prefix}\u{ffff}`;
}

/** Reports whether the write is unconditional, so that it may be repeated. */
function isHarmless(write: SingleWrite): boolean {
  switch (write.kind) {
    case "put":
    case "put_properties":
      return true;
    case "delete":
      return !("etag" in write) || write.etag === "*";
    case "create":
    case "replace":
    case "merge":
      return false;
  }
}

/** A request that may be sent now. */
interface TableRequest extends Disposable {
  readonly wire: TableWire;
  readonly signal: AbortSignal;
}

/**
 * A table. Conditional writes return a value when they lose a race. A write with an unknown outcome throws
 * `service_unavailable` (single rows) or returns `in_doubt` (transactions).
 */
export class Table {
  readonly #open: () => Promise<TableWire>;
  readonly #gate: RequestGate;
  readonly #reads = new SharedReads();
  #wire: Promise<TableWire> | undefined;

  /** `gate`: that of the process, which all its tables share. */
  constructor(open: () => Promise<TableWire>, gate = new RequestGate()) {
    this.#open = open;
    this.#gate = gate;
  }

  /** Waits until a request may be sent, and begins its time. Dispose of the result when the request has ended. */
  async #begin(): Promise<TableRequest> {
    this.#wire ??= this.#open();
    const wire = await this.#wire;
    const end = await this.#gate.begin();
    return { wire, signal: AbortSignal.timeout(CALL_TIMEOUT_MS), [Symbol.dispose]: end };
  }

  /** Writes a row and returns its version, or undefined when its condition failed: the status is in `lost`. */
  async #single(
    partitionKey: string,
    write: SingleWrite,
    lost: readonly number[] = [],
  ): Promise<string | undefined> {
    const send = async () => {
      using request = await this.#begin();
      return await request.wire.write(partitionKey, write, request.signal);
    };
    try {
      return await (isHarmless(write) ? retryHarmless(send) : send());
    } catch (error) {
      const { status } = failureOf(error);
      if (status !== undefined && lost.includes(status)) return undefined;
      // An unconditional write can't conflict. The network layer below repeated it after losing the first answer.
      const isImpossible = status === 409 || status === 412;
      if (isDefinite(error) && !isImpossible) throw error;
      throw serviceUnavailable(error);
    }
  }

  /** Reads a row. The answer is from the time of the call or later, and concurrent calls may share one read. */
  find(partitionKey: string, rowKey: string): Promise<StoredRow | undefined> {
    return this.#reads.read(`${partitionKey}\n${rowKey}`, () => this.#find(partitionKey, rowKey));
  }

  async #find(partitionKey: string, rowKey: string): Promise<StoredRow | undefined> {
    try {
      return await retryHarmless(async () => {
        using request = await this.#begin();
        return await request.wire.find(partitionKey, rowKey, request.signal);
      });
    } catch (error) {
      if (isDefinite(error)) throw error;
      throw serviceUnavailable(error);
    }
  }

  /** Inserts a row. Returns its version, or undefined when a row with this key exists. */
  insertIfAbsent(partitionKey: string, row: Row): Promise<string | undefined> {
    return this.#single(partitionKey, { kind: "create", row }, [409]);
  }

  /** Replaces a row. Returns its new version, or undefined when the row is gone or has changed. */
  replaceIfUnchanged(partitionKey: string, row: Row, etag: string): Promise<string | undefined> {
    return this.#single(partitionKey, { kind: "replace", row, etag }, [404, 412]);
  }

  /** Changes only the named properties. Returns the new version, or undefined when the row is gone or has changed. */
  mergeIfUnchanged(partitionKey: string, row: Row, etag: string): Promise<string | undefined> {
    return this.#single(partitionKey, { kind: "merge", row, etag }, [404, 412]);
  }

  /**
   * Reads a row, asks `decide` for a change, and writes it. If the row was changed in between, it pauses, reads and
   * decides again, so `decide` may be called several times. Returns what was written.
   * @throws AppError `service_unavailable` when the outcome is unknown (the change may be stored now, later or never),
   * or after 20 lost races (it is not stored)
   */
  change(
    partitionKey: string,
    rowKey: string,
    decide: (stored: StoredRow | undefined) => RowChange | Promise<RowChange>,
  ): Promise<ChangedRow> {
    return retryLostRaces(async () => {
      const stored = await this.find(partitionKey, rowKey);
      const change = await decide(stored);
      return (await applyChange(this, { partitionKey, rowKey }, stored, change)) ?? LOST;
    });
  }

  /**
   * Merges the columns that `change` returns for the stored row, or leaves the row as it is when that is undefined.
   * Returns the row as it is afterwards, or undefined when there is none. @throws AppError as `change` does
   */
  async update(
    partitionKey: string,
    rowKey: string,
    change: (row: Row) => Readonly<Record<string, RowValue>> | undefined,
  ): Promise<Row | undefined> {
    const { row } = await this.change(partitionKey, rowKey, (stored) => {
      const columns = stored === undefined ? undefined : change(stored.row);
      return columns === undefined ? { kind: "leave" } : { kind: "merge", columns };
    });
    return row;
  }

  /** Writes the row regardless of what is stored. */
  async put(partitionKey: string, row: Row): Promise<void> {
    await this.#single(partitionKey, { kind: "put", row });
  }

  /** Writes the named properties regardless of what is stored. */
  async putProperties(partitionKey: string, row: Row): Promise<void> {
    await this.#single(partitionKey, { kind: "put_properties", row });
  }

  /**
   * Deletes a row; without an etag, any version of it. Returns whether this call deleted it. That is only certain with
   * an etag: after a lost answer, a repeated delete finds no row.
   */
  async delete(partitionKey: string, rowKey: string, etag = "*"): Promise<boolean> {
    const write = { kind: "delete", rowKey, etag } as const;
    return (await this.#single(partitionKey, write, [404, 412])) !== undefined;
  }

  /** Lists a range in key order. It returns `limit` rows, or fewer only at the end of the range. Shared like `find`. */
  list(range: RowRange): Promise<readonly StoredRow[]> {
    return this.#reads.read(JSON.stringify(range), () => this.#list(range));
  }

  async #list(range: RowRange): Promise<StoredRow[]> {
    const found: StoredRow[] = [];
    const missing = () => range.limit - found.length;
    const query = { filter: filterOf(range), columns: range.columns };
    for await (const { rows } of this.#pages(query, missing)) {
      for (const { row, etag } of rows) found.push({ row, etag });
      if (missing() <= 0) break;
    }
    return found;
  }

  /**
   * Lists a page of selected rows. A page may be short or empty; only an undefined `next` marks the end. The service
   * reads every row in between (without a partition, the whole table), so use this in background work only.
   */
  async select(selection: Selection, after: string | undefined): Promise<SelectedPage> {
    const { pageRows = PAGE_ROWS_MAX } = selection;
    const query = { filter: filterOf(selection), columns: undefined };
    const pages = this.#pages(query, () => pageRows, after);
    return (await pages.next()).value ?? { rows: [], next: undefined };
  }

  /** Yields all pages of a query. Any page may be short or empty. */
  async *#pages(
    asked: Pick<PageQuery, "filter" | "columns">,
    size: () => number,
    after?: string,
  ): AsyncGenerator<SelectedPage, void> {
    let continuation = after;
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const rows = Math.min(PAGE_ROWS_MAX, size());
      const query = { ...asked, rows, after: continuation };
      let answer: SelectedPage;
      try {
        answer = await retryHarmless(async () => {
          using request = await this.#begin();
          return await request.wire.page(query, request.signal);
        });
      } catch (error) {
        // The table doesn't exist yet.
        if (failureOf(error).status === 404) return;
        if (isDefinite(error)) throw error;
        throw serviceUnavailable(error);
      }
      yield answer;
      if (answer.next === undefined) return;
      continuation = answer.next;
    }
    // An error, so that no caller takes this for the end of the list.
    throw serviceUnavailable(new Error(`a query did not end after ${PAGES_MAX} pages`));
  }

  /** Removes a page of selected rows in any version. Returns their number and where to continue. */
  async removeSelected(
    selection: Selection,
    after: string | undefined,
  ): Promise<{ readonly removed: number; readonly next: string | undefined }> {
    const { rows, next } = await this.select(selection, after);
    const partitions = [...Map.groupBy(rows, ({ partitionKey }) => partitionKey)];
    await inBatches(partitions, REMOVALS_AT_ONCE, ([partitionKey, own]) =>
      this.deleteAll(
        partitionKey,
        own.map(({ row }) => row.rowKey),
      ),
    );
    return { removed: rows.length, next };
  }

  async putAll(partitionKey: string, rows: readonly Row[]): Promise<void> {
    await writeInBatches(this, partitionKey, rows, {
      isHarmless: true,
      write: (row) => ({ kind: "put", row }),
      alone: (row) => this.put(partitionKey, row),
    });
  }

  /** Inserts the rows that don't exist yet and returns their keys. */
  async insertAllIfAbsent(
    partitionKey: string,
    rows: readonly Row[],
  ): Promise<ReadonlySet<string>> {
    const inserted = new Set<string>();
    await writeInBatches(this, partitionKey, rows, {
      write: (row) => ({ kind: "create", row }),
      alone: async (row) => {
        if ((await this.insertIfAbsent(partitionKey, row)) !== undefined) inserted.add(row.rowKey);
      },
      applied: (row) => inserted.add(row.rowKey),
    });
    return inserted;
  }

  /** Removes the rows that exist, in any version. */
  async deleteAll(partitionKey: string, rowKeys: readonly string[]): Promise<void> {
    await writeInBatches(this, partitionKey, rowKeys, {
      isHarmless: true,
      write: (rowKey) => ({ kind: "delete", rowKey }),
      alone: async (rowKey) => void (await this.delete(partitionKey, rowKey)),
    });
  }

  /**
   * Writes at most 100 rows of one partition, each once: all of them or none.
   * @throws InvalidTransaction when the service will never accept it
   */
  async transact(
    partitionKey: string,
    writes: readonly (RowWrite | RowPut)[],
  ): Promise<TransactionResult> {
    try {
      using request = await this.#begin();
      const answer = await request.wire.transact(partitionKey, writes, request.signal);
      const etags = new Map<string, string>();
      for (const [index, etag] of answer.entries()) {
        const write = writes[index];
        if (write !== undefined && write.kind !== "delete" && etag !== "")
          etags.set(write.row.rowKey, etag);
      }
      return { kind: "applied", etags };
    } catch (error) {
      const { status, failedWrite: at } = failureOf(error);
      if (status === 404 || status === 409 || status === 412) return { kind: "refused", at };
      if (isDefinite(error)) throw new InvalidTransaction(at, error);
      return { kind: "in_doubt", cause: error, isBusy: isOverloaded(error) };
    }
  }
}
