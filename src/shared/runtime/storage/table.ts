import type { TableClient, TableEntityResult } from "@azure/data-tables";
import { serviceUnavailable } from "../errors.ts";
import {
  failureOf,
  isDefinite,
  isMissingContainer,
  isBusy,
  retryHarmless,
  actionOf,
  toStored,
} from "./failure.ts";
import { LOST, untilWon } from "../until-won.ts";
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
import { SharedReads } from "./shared-reads.ts";
import { writeTogether } from "./together.ts";
import { inBatches } from "../promises.ts";

/** Shorter than the service's own 30 s: a call that takes longer counts as in doubt. */
const CALL_TIMEOUT_MS = 10_000;
/** The service's own page size. */
const PAGE_ROWS_MAX = 1_000;
const PAGES_MAX = 1_000;
const REMOVALS_AT_ONCE = 4;

/** A page of a query as the service returns it, and where the next one begins; undefined at the end. */
interface EntityPage {
  readonly entities: readonly TableEntityResult<Record<string, unknown>>[];
  readonly next: string | undefined;
}

/** The row key that sorts after every key with this prefix. */
export function afterPrefix(prefix: string): string {
  return `${prefix}\u{ffff}`;
}

const callOptions = () => ({ abortSignal: AbortSignal.timeout(CALL_TIMEOUT_MS) });

/**
 * A table whose conditional writes return a value instead of throwing when they lose a race. A write with an unknown
 * outcome throws `service_unavailable` (single rows) or returns `in_doubt` (transactions). Created on first use.
 */
export class Table {
  readonly #open: () => Promise<TableClient>;
  readonly #reads = new SharedReads();
  #client: Promise<TableClient> | undefined;

  constructor(open: () => Promise<TableClient>) {
    this.#open = open;
  }

  #connected(): Promise<TableClient> {
    this.#client ??= this.#open();
    return this.#client;
  }

  /** Creates the table on the first write that misses it; two processes doing so at once are harmless. */
  async #write<T>(write: (client: TableClient) => Promise<T>): Promise<T> {
    const client = await this.#connected();
    try {
      return await write(client);
    } catch (error) {
      if (!isMissingContainer(error)) throw error;
      await client.createTable(callOptions());
      return await write(client);
    }
  }

  /** Writes on a condition; undefined when the condition was not met. */
  async #conditional<T>(
    lost: readonly number[],
    write: (client: TableClient) => Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await this.#write(write);
    } catch (error) {
      const { status } = failureOf(error);
      if (status !== undefined && lost.includes(status)) return undefined;
      // A conflict that can't be comes from a repeat in the network below, whose first answer was lost.
      const isImpossible = status === 409 || status === 412;
      if (isDefinite(error) && !isImpossible) throw error;
      throw serviceUnavailable(error);
    }
  }

  /** Returns the row as it is when the call is made or later; concurrent calls may share one read. */
  find(partitionKey: string, rowKey: string): Promise<StoredRow | undefined> {
    return this.#reads.read(`${partitionKey}\n${rowKey}`, () => this.#find(partitionKey, rowKey));
  }

  async #find(partitionKey: string, rowKey: string): Promise<StoredRow | undefined> {
    const client = await this.#connected();
    try {
      return toStored(
        await retryHarmless(() => client.getEntity(partitionKey, rowKey, callOptions())),
      );
    } catch (error) {
      if (failureOf(error).status === 404) return undefined;
      if (isDefinite(error)) throw error;
      throw serviceUnavailable(error);
    }
  }

  /** Inserts a row. Returns its version, or undefined when a row with this key exists. */
  insertIfAbsent(partitionKey: string, row: Row): Promise<string | undefined> {
    return this.#conditional([409], async (client) => {
      const { etag } = await client.createEntity({ partitionKey, ...row }, callOptions());
      return etag ?? "";
    });
  }

  /** Replaces a row. Returns its new version, or undefined when the row is gone or was changed since. */
  replaceIfUnchanged(partitionKey: string, row: Row, etag: string): Promise<string | undefined> {
    return this.#conditional([404, 412], async (client) => {
      const options = { ...callOptions(), etag };
      return (await client.updateEntity({ partitionKey, ...row }, "Replace", options)).etag ?? "";
    });
  }

  /** Changes only the named properties; undefined when the row is gone or was changed since. */
  mergeIfUnchanged(partitionKey: string, row: Row, etag: string): Promise<string | undefined> {
    return this.#conditional([404, 412], async (client) => {
      const options = { ...callOptions(), etag };
      return (await client.updateEntity({ partitionKey, ...row }, "Merge", options)).etag ?? "";
    });
  }

  /**
   * Reads a row, asks `decide` for a change, and writes it unless the row was changed in between: then it pauses,
   * reads and decides again. Returns what was written. `decide` may be called several times.
   * @throws AppError `service_unavailable` when the outcome is unknown (the change may be stored now, later or never), or
   * after 20 lost races (it is not)
   */
  change(
    partitionKey: string,
    rowKey: string,
    decide: (stored: StoredRow | undefined) => RowChange | Promise<RowChange>,
  ): Promise<ChangedRow> {
    return untilWon(async () => {
      const stored = await this.find(partitionKey, rowKey);
      const change = await decide(stored);
      return (await applyChange(this, { partitionKey, rowKey }, stored, change)) ?? LOST;
    });
  }

  /**
   * Merges the columns that `change` returns for the present row; undefined leaves the row as it is. Returns the row
   * after that, or undefined when there is none. @throws AppError as `change` does
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

  /** Writes the row whatever was there. */
  async put(partitionKey: string, row: Row): Promise<void> {
    await this.#conditional([], (client) =>
      retryHarmless(() => client.upsertEntity({ partitionKey, ...row }, "Replace", callOptions())),
    );
  }

  /** Writes the named properties whatever was there. */
  async putProperties(partitionKey: string, row: Row): Promise<void> {
    await this.#conditional([], (client) =>
      retryHarmless(() => client.upsertEntity({ partitionKey, ...row }, "Merge", callOptions())),
    );
  }

  /**
   * Deletes a row, without an etag in any version. Returns whether this call deleted it, which is certain with an etag
   * alone: a repeat finds nothing where the first try was applied and its answer lost.
   */
  async delete(partitionKey: string, rowKey: string, etag = "*"): Promise<boolean> {
    const deleted = await this.#conditional([404, 412], async (client) => {
      const send = () => client.deleteEntity(partitionKey, rowKey, { ...callOptions(), etag });
      await (etag === "*" ? retryHarmless(send) : send());
      return true;
    });
    return deleted ?? false;
  }

  /** Lists a range in key order: `limit` rows, fewer only at the end of the range. Shared like `find`. */
  list(range: RowRange): Promise<readonly StoredRow[]> {
    return this.#reads.read(JSON.stringify(range), () => this.#list(range));
  }

  async #list(range: RowRange): Promise<StoredRow[]> {
    const rows: StoredRow[] = [];
    const missing = () => range.limit - rows.length;
    for await (const page of this.#pages(filterOf(range), missing)) {
      for (const entity of page.entities) rows.push(toStored(entity));
      if (missing() <= 0) break;
    }
    return rows;
  }

  /**
   * Lists a page of selected rows. It may be short or empty: the end is reached only when `next` is undefined. The
   * service reads every row in between, without a partition the whole table: use it in background work alone.
   */
  async select(selection: Selection, after: string | undefined): Promise<SelectedPage> {
    const { pageRows = PAGE_ROWS_MAX } = selection;
    for await (const { entities, next } of this.#pages(
      filterOf(selection),
      () => pageRows,
      after,
    )) {
      const rows = entities.map((entity) => ({
        ...toStored(entity),
        partitionKey: entity.partitionKey ?? "",
      }));
      return { rows, next };
    }
    return { rows: [], next: undefined };
  }

  /** Yields the pages of a query to its end. Any page may be short or empty. */
  async *#pages(
    filter: string,
    size: () => number,
    after?: string,
  ): AsyncGenerator<EntityPage, void> {
    const client = await this.#connected();
    let continuation = after;
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const answer = await this.#page(client, filter, {
        maxPageSize: Math.min(PAGE_ROWS_MAX, size()),
        ...(continuation === undefined ? {} : { continuationToken: continuation }),
      });
      if (answer === undefined) return;
      yield answer;
      if (answer.next === undefined) return;
      continuation = answer.next;
    }
    // Not to be taken for the end by anybody.
    throw serviceUnavailable(new Error(`a query did not end after ${PAGES_MAX} pages`));
  }

  /** Undefined for a table that is not there. */
  async #page(
    client: TableClient,
    filter: string,
    settings: { readonly maxPageSize: number; readonly continuationToken?: string },
  ): Promise<EntityPage | undefined> {
    try {
      const queryOptions = { filter };
      const answer = await retryHarmless(async () => {
        const pages = client.listEntities({ queryOptions, ...callOptions() }).byPage(settings);
        return (await pages.next()).value;
      });
      return answer && { entities: answer, next: answer.continuationToken };
    } catch (error) {
      if (failureOf(error).status === 404) return undefined;
      if (isDefinite(error)) throw error;
      throw serviceUnavailable(error);
    }
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

  /** Writes the rows whatever was there. */
  async putAll(partitionKey: string, rows: readonly Row[]): Promise<void> {
    await writeTogether(this, partitionKey, rows, {
      isHarmless: true,
      write: (row) => ({ kind: "put", row }),
      alone: (row) => this.put(partitionKey, row),
    });
  }

  /** Inserts the rows that are absent and returns their keys. */
  async insertAllIfAbsent(
    partitionKey: string,
    rows: readonly Row[],
  ): Promise<ReadonlySet<string>> {
    const inserted = new Set<string>();
    await writeTogether(this, partitionKey, rows, {
      write: (row) => ({ kind: "create", row }),
      alone: async (row) => {
        if ((await this.insertIfAbsent(partitionKey, row)) !== undefined) inserted.add(row.rowKey);
      },
      applied: (row) => inserted.add(row.rowKey),
    });
    return inserted;
  }

  /** Removes the rows that are there, whatever their version. */
  async deleteAll(partitionKey: string, rowKeys: readonly string[]): Promise<void> {
    await writeTogether(this, partitionKey, rowKeys, {
      isHarmless: true,
      write: (rowKey) => ({ kind: "delete", rowKey }),
      alone: async (rowKey) => void (await this.delete(partitionKey, rowKey)),
    });
  }

  /**
   * Writes at most 100 rows of one partition, each once, all or none.
   * @throws InvalidTransaction when the service will never take it
   */
  async transact(
    partitionKey: string,
    writes: readonly (RowWrite | RowPut)[],
  ): Promise<TransactionResult> {
    const actions = writes.map((write) => actionOf(partitionKey, write));
    const submit = (client: TableClient) => client.submitTransaction(actions, callOptions());
    try {
      const answer = await this.#write(submit);
      const etags = new Map<string, string>();
      // The answers come in the order of the writes; their own row keys are percent-encoded.
      for (const [index, { etag }] of answer.subResponses.entries()) {
        const write = writes[index];
        if (write !== undefined && write.kind !== "delete" && etag !== undefined)
          etags.set(write.row.rowKey, etag);
      }
      return { kind: "applied", etags };
    } catch (error) {
      const { status, failedWrite: at } = failureOf(error);
      if (status === 404 || status === 409 || status === 412) return { kind: "refused", at };
      if (isDefinite(error)) throw new InvalidTransaction(at, error);
      return { kind: "in_doubt", cause: error, isBusy: isBusy(error) };
    }
  }
}
