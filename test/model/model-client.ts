import type { Row, RowValue, StoredRow } from "../../src/shared/runtime/storage/row.ts";
import type { SelectedPage } from "../../src/shared/runtime/storage/selection.ts";
import { Table } from "../../src/shared/runtime/storage/table.ts";
import type {
  PageQuery,
  SingleWrite,
  TableWire,
} from "../../src/shared/runtime/storage/table-wire.ts";
import { TABLE_NAMES, type Tables } from "../../src/shared/runtime/storage/tables.ts";
import { parseFilter, type Filter } from "./filter.ts";
import { quietly, type Machine } from "./machine.ts";
import { deadlineOf } from "./virtual-time.ts";
import { StorageError, type Action, type ModelRow, type TableModel } from "./table-model.ts";
import type { WriteFault } from "./weather.ts";

const LATE_MS_MAX = 20_000;
const SHORT_PAGE_MAX = 3;
const ROWS_AT_ONCE = 2_000;

function toAction(write: SingleWrite): Action {
  if (write.kind === "delete")
    return { kind: "delete", rowKey: write.rowKey, etag: "etag" in write ? write.etag : "*" };
  const { rowKey, ...properties } = write.row;
  switch (write.kind) {
    case "create":
    case "put":
      return { kind: write.kind, rowKey, properties };
    case "put_properties":
      return { kind: "put_merge", rowKey, properties };
    case "replace":
    case "merge":
      return { kind: write.kind, rowKey, properties, etag: write.etag };
  }
}

function toStored({ rowKey, properties, etag }: ModelRow): StoredRow {
  // Safe: only rows of the product are written, through its own table.
  const row: Row = { ...(properties as Readonly<Record<string, RowValue>>), rowKey };
  return { row, etag };
}

/** Returns the row with these columns alone, if some are named. */
function onlyColumns(row: ModelRow, columns: readonly string[] | undefined): ModelRow {
  if (columns === undefined) return row;
  const kept = Object.entries(row.properties).filter(([name]) => columns.includes(name));
  return { ...row, properties: Object.fromEntries(kept) };
}

/** What a repeat inside a client library is told about the write that it repeats. */
function conflictOf(actions: readonly Action[]): StorageError {
  const [first] = actions;
  if (first?.kind === "create") return new StorageError(409, "EntityAlreadyExists", 0);
  if (first?.kind === "delete") return new StorageError(404, "ResourceNotFound", 0);
  return new StorageError(412, "UpdateConditionNotSatisfied", 0);
}

const noAnswer = () => new StorageError(undefined, "no answer");

/** One table of the model as one process reaches it. */
export class ModelClient implements TableWire {
  readonly #model: TableModel;
  readonly #machine: Machine;
  readonly #table: string;
  /** The fate of the next calls, for tests that choose it. */
  fault: WriteFault | undefined;

  constructor(model: TableModel, machine: Machine, table: string) {
    this.#model = model;
    this.#machine = machine;
    this.#table = table;
  }

  #writeFault(actions: readonly Action[]): WriteFault | undefined {
    if (this.fault !== undefined) return this.fault;
    const { fate } = this.#machine;
    const rowKeys = actions.map(({ rowKey }) => rowKey);
    if (fate !== undefined) return fate({ table: this.#table, method: "POST", rowKeys });
    const { random, rates } = this.#machine.nature;
    return random.chance(rates.write) ? random.pick(rates.writeFaults) : undefined;
  }

  /** @throws StorageError of a partition that has enough to do */
  #load(partitionKey: string, entities: number): void {
    const { load, time, counts } = this.#machine.nature;
    if (load?.take(`${this.#table}|${partitionKey}`, entities, time.now) ?? true) return;
    counts.throttled += 1;
    throw new StorageError(503, "ServerBusy");
  }

  #arrive(partitionKey: string, actions: readonly Action[]): ReadonlyMap<string, string> {
    const { counts, random, time } = this.#machine.nature;
    const apply = () => {
      this.#load(partitionKey, actions.length);
      counts.transactions += 1;
      return this.#model.transact(this.#table, partitionKey, actions);
    };
    switch (this.#writeFault(actions)) {
      case undefined:
        return apply();
      case "error_before":
        throw noAnswer();
      case "error_after":
        quietly(apply);
        throw noAnswer();
      case "late":
        counts.lateWrites += 1;
        time.set(() => quietly(apply), random.below(LATE_MS_MAX));
        throw noAnswer();
      case "false_conflict":
        apply();
        counts.falseConflicts += 1;
        throw conflictOf(actions);
      case "unavailable":
        throw new StorageError(503, "ServerBusy");
    }
  }

  async #write(
    partitionKey: string,
    actions: readonly Action[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>> {
    const held = this.#machine.hold?.({
      table: this.#table,
      method: "POST",
      rowKeys: actions.map(({ rowKey }) => rowKey),
    });
    // Not awaited where nothing is held, so that the turns of a seed stay as they are.
    if (held !== undefined) await held;
    return await this.#machine.call(() => this.#arrive(partitionKey, actions), deadlineOf(signal));
  }

  #read<T>(look: () => T, signal: AbortSignal): Promise<T> {
    const { random, rates } = this.#machine.nature;
    const reach = () => {
      const fate = this.#machine.fate?.({ table: this.#table, method: "GET", rowKeys: [] });
      if (fate === "unavailable") throw new StorageError(503, "ServerBusy");
      if (fate !== undefined) throw noAnswer();
      if (this.fault === "unavailable" || random.chance(rates.read))
        throw random.chance(0.5) ? noAnswer() : new StorageError(503, "ServerBusy");
      return look();
    };
    return this.#machine.call(reach, deadlineOf(signal));
  }

  find(partitionKey: string, rowKey: string, signal: AbortSignal) {
    const look = () => {
      this.#load(partitionKey, 1);
      try {
        return toStored(this.#model.find(this.#table, partitionKey, rowKey));
      } catch (error) {
        if (error instanceof StorageError && error.statusCode === 404) return undefined;
        throw error;
      }
    };
    return this.#read(look, signal);
  }

  async write(partitionKey: string, write: SingleWrite, signal: AbortSignal): Promise<string> {
    const [etag = ""] = await this.transact(partitionKey, [write], signal);
    return etag;
  }

  async transact(
    partitionKey: string,
    writes: readonly SingleWrite[],
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const actions = writes.map(toAction);
    let etags: ReadonlyMap<string, string>;
    try {
      etags = await this.#write(partitionKey, actions, signal);
    } catch (error) {
      if (!(error instanceof StorageError) || error.message !== "TableNotFound") throw error;
      await this.#machine.call(() => this.#model.createTable(this.#table));
      etags = await this.#write(partitionKey, actions, signal);
    }
    return actions.map(({ rowKey }) => etags.get(rowKey) ?? "");
  }

  /** How many rows the service gives at once; now and then few or none although there is more. */
  #pageLimit(maxPageSize: number): number {
    const { random, rates } = this.#machine.nature;
    const isOdd = random.chance(rates.page);
    return isOdd ? Math.min(maxPageSize, random.below(SHORT_PAGE_MAX)) : maxPageSize;
  }

  /**
   * A page as the service may cut it: now and then short or empty although there is more, in one partition and over
   * many, and now and then with a place to go on although nothing is left there.
   */
  page(
    { filter: text, rows: most, columns, after }: PageQuery,
    signal: AbortSignal,
  ): Promise<SelectedPage> {
    const filter = parseFilter(text);
    const isOverMany = filter.partitionKey === undefined;
    const look = () => {
      if (isOverMany && after === undefined && this.#machine.nature.isEmptyFirst === true)
        return { rows: [], next: BEGINNING };
      const limit = this.#pageLimit(most);
      // One more than asked for, which is where to go on.
      const found = this.#select(filter, after, limit + 1);
      if (filter.partitionKey !== undefined) this.#load(filter.partitionKey, found.length);
      const next = found[limit] === undefined ? this.#falseEnd(after) : placeOf(found[limit]);
      const rows = found
        .slice(0, limit)
        .map((row) => ({ ...toStored(onlyColumns(row, columns)), partitionKey: row.partitionKey }));
      return { rows, next };
    };
    return this.#read(look, signal);
  }

  /** A place behind all rows, once in a query. */
  #falseEnd(start: string | undefined): string | undefined {
    const { random, rates } = this.#machine.nature;
    return start !== BEHIND_ALL && random.chance(rates.page) ? BEHIND_ALL : undefined;
  }

  /** So many rows in order, from the place on that a continuation names. */
  #select(filter: Filter, start: string | undefined, limit: number): PlacedRow[] {
    if (start === BEHIND_ALL) return [];
    const { partitionKey, fromPartition, beforePartition } = filter;
    const [startPartition = "", startRow = ""] = start?.split("\n") ?? [];
    const first = startPartition > fromPartition ? startPartition : fromPartition;
    const partitions =
      partitionKey === undefined
        ? this.#model.partitionKeys(this.#table, first, beforePartition)
        : [partitionKey];
    const selected: PlacedRow[] = [];
    for (const partition of partitions) {
      if (selected.length >= limit) break;
      const from = partition === startPartition && startRow > filter.from ? startRow : filter.from;
      selected.push(...this.#selectFrom(partition, from, filter, limit - selected.length));
    }
    return selected;
  }

  /** So many rows of a partition. */
  #selectFrom(partitionKey: string, start: string, filter: Filter, limit: number): PlacedRow[] {
    const { before, isSelective } = filter;
    const selected: PlacedRow[] = [];
    const size = isSelective ? ROWS_AT_ONCE : limit;
    let from = start;
    for (let isMore = true; isMore && selected.length < limit;) {
      const rows = this.#model.page(this.#table, { partitionKey, from, before, limit: size });
      const fits = ({ rowKey, properties }: ModelRow) =>
        !isSelective || filter.fits(partitionKey, rowKey, properties);
      for (const row of rows.filter(fits)) selected.push({ ...row, partitionKey });
      from = `${rows.at(-1)?.rowKey}\0`;
      isMore = rows.length === size;
    }
    return selected.slice(0, limit);
  }
}

const BEGINNING = "\n";
const BEHIND_ALL = "\u{ffff}";

type PlacedRow = ModelRow & { readonly partitionKey: string };

const placeOf = ({ partitionKey, rowKey }: PlacedRow) => `${partitionKey}\n${rowKey}`;

/** The product's own table over the model. */
export function tableOver(client: ModelClient): Table {
  return new Table(() => Promise.resolve(client));
}

export function tablesOver(model: TableModel, machine: Machine): Tables {
  const open = (name: string) => tableOver(new ModelClient(model, machine, name));
  return Object.fromEntries(TABLE_NAMES.map((name) => [name, open(name)])) as Tables;
}
