import type { TableClient } from "@azure/data-tables";
import { Table } from "../../src/shared/runtime/storage/table.ts";
import { TABLE_NAMES, type Tables } from "../../src/shared/runtime/storage/tables.ts";
import { parseFilter, type Filter } from "./filter.ts";
import { quietly, type Machine } from "./machine.ts";
import { deadlineOf } from "./virtual-time.ts";
import {
  StorageError,
  type Action,
  type ModelRow,
  type Properties,
  type TableModel,
} from "./table-model.ts";
import type { WriteFault } from "./weather.ts";

const LATE_MS_MAX = 20_000;
const SHORT_PAGE_MAX = 3;
const ROWS_AT_ONCE = 2_000;

interface Entity extends Properties {
  readonly partitionKey: string;
  readonly rowKey: string;
}

/** As the client library gives them. */
type SdkAction =
  | readonly ["create", Entity]
  | readonly ["update", Entity, "Merge" | "Replace", { readonly etag?: string }]
  | readonly ["upsert", Entity, "Merge" | "Replace"]
  | readonly ["delete", { readonly partitionKey: string; readonly rowKey: string }];

type UpdateMode = "Merge" | "Replace";

/** How long the caller waits. */
interface CallOptions {
  readonly abortSignal?: AbortSignal;
}

function propertiesOf({
  partitionKey: _partition,
  rowKey: _row,
  ...properties
}: Entity): Properties {
  return properties;
}

const create = (entity: Entity): Action => ({
  kind: "create",
  rowKey: entity.rowKey,
  properties: propertiesOf(entity),
});
const update = (entity: Entity, mode: UpdateMode, etag = "*"): Action => ({
  kind: mode === "Merge" ? "merge" : "replace",
  rowKey: entity.rowKey,
  properties: propertiesOf(entity),
  etag,
});
const upsert = (entity: Entity, mode: UpdateMode): Action => ({
  kind: mode === "Merge" ? "put_merge" : "put",
  rowKey: entity.rowKey,
  properties: propertiesOf(entity),
});

function toAction(action: SdkAction): Action {
  switch (action[0]) {
    case "create":
      return create(action[1]);
    case "update":
      return update(action[1], action[2], action[3].etag);
    case "upsert":
      return upsert(action[1], action[2]);
    case "delete":
      return { kind: "delete", rowKey: action[1].rowKey, etag: "*" };
  }
}

const toEntity = (partitionKey: string, { rowKey, properties, etag }: ModelRow) => ({
  ...properties,
  partitionKey,
  rowKey,
  etag,
  timestamp: "",
});

/** What a repeat inside a client library is told of the write that it repeats. */
function conflictOf(actions: readonly Action[]): StorageError {
  const [first] = actions;
  if (first?.kind === "create") return new StorageError(409, "EntityAlreadyExists", 0);
  if (first?.kind === "delete") return new StorageError(404, "ResourceNotFound", 0);
  return new StorageError(412, "UpdateConditionNotSatisfied", 0);
}

const noAnswer = () => new StorageError(undefined, "no answer");

/** One table of the model as one process reaches it, in the shape of the service's own client. */
export class ModelClient {
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
    { abortSignal }: CallOptions,
  ): Promise<ReadonlyMap<string, string>> {
    const { rewrite } = this.#machine;
    const until = deadlineOf(abortSignal);
    const transactions = rewrite === undefined ? [actions] : rewrite(this.#table, actions);
    const etags = new Map<string, string>();
    for (const one of transactions) {
      const written = await this.#machine.call(() => this.#arrive(partitionKey, one), until);
      for (const [rowKey, etag] of written) etags.set(rowKey, etag);
    }
    return etags;
  }

  #read<T>(look: () => T, { abortSignal }: CallOptions): Promise<T> {
    const { random, rates } = this.#machine.nature;
    const reach = () => {
      const fate = this.#machine.fate?.({ table: this.#table, method: "GET", rowKeys: [] });
      if (fate === "unavailable") throw new StorageError(503, "ServerBusy");
      if (fate !== undefined) throw noAnswer();
      if (this.fault === "unavailable" || random.chance(rates.read))
        throw random.chance(0.5) ? noAnswer() : new StorageError(503, "ServerBusy");
      return look();
    };
    return this.#machine.call(reach, deadlineOf(abortSignal));
  }

  async #one(partitionKey: string, action: Action, options: CallOptions) {
    const etags = await this.#write(partitionKey, [action], options);
    return { etag: etags.get(action.rowKey) };
  }

  createTable(): Promise<void> {
    return this.#machine.call(() => this.#model.createTable(this.#table));
  }

  getEntity(partitionKey: string, rowKey: string, options: CallOptions = {}) {
    const look = () => {
      this.#load(partitionKey, 1);
      return toEntity(partitionKey, this.#model.find(this.#table, partitionKey, rowKey));
    };
    return this.#read(look, options);
  }

  createEntity(entity: Entity, options: CallOptions = {}) {
    return this.#one(entity.partitionKey, create(entity), options);
  }

  updateEntity(
    entity: Entity,
    mode: UpdateMode,
    { etag, ...options }: CallOptions & { readonly etag?: string },
  ) {
    return this.#one(entity.partitionKey, update(entity, mode, etag), options);
  }

  upsertEntity(entity: Entity, mode: UpdateMode, options: CallOptions = {}) {
    return this.#one(entity.partitionKey, upsert(entity, mode), options);
  }

  deleteEntity(
    partitionKey: string,
    rowKey: string,
    { etag = "*", ...options }: CallOptions & { readonly etag?: string },
  ) {
    return this.#one(partitionKey, { kind: "delete", rowKey, etag }, options);
  }

  async submitTransaction(actions: readonly SdkAction[], options: CallOptions = {}) {
    const partitionKey = actions[0]?.[1].partitionKey ?? "";
    const etags = await this.#write(partitionKey, actions.map(toAction), options);
    const subResponses = actions.map(([, { rowKey }]) => ({ rowKey, etag: etags.get(rowKey) }));
    return { subResponses };
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
  listEntities({
    queryOptions,
    ...given
  }: CallOptions & { readonly queryOptions: { readonly filter: string } }) {
    const filter = parseFilter(queryOptions.filter);
    const isOverMany = filter.partitionKey === undefined;
    const page = (maxPageSize: number, start: string | undefined) => {
      if (isOverMany && start === undefined && this.#machine.nature.isEmptyFirst === true)
        return Object.assign([], { continuationToken: BEGINNING });
      const limit = this.#pageLimit(maxPageSize);
      // One more than asked for, which is where to go on.
      const rows = this.#select(filter, start, limit + 1);
      if (filter.partitionKey !== undefined) this.#load(filter.partitionKey, rows.length);
      const next = rows[limit] === undefined ? this.#falseEnd(start) : placeOf(rows[limit]);
      const entities = rows.slice(0, limit).map((row) => toEntity(row.partitionKey, row));
      return Object.assign(entities, next === undefined ? {} : { continuationToken: next });
    };
    return {
      byPage: (options: { readonly maxPageSize: number; readonly continuationToken?: string }) => ({
        next: async () => ({
          value: await this.#read(
            () => page(options.maxPageSize, options.continuationToken),
            given,
          ),
        }),
      }),
    };
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
  // Safe: the class has every method that the product calls, with the results that it reads.
  return new Table(() => Promise.resolve(client as unknown as TableClient));
}

export function tablesOver(model: TableModel, machine: Machine): Tables {
  const open = (name: string) => tableOver(new ModelClient(model, machine, name));
  return Object.fromEntries(TABLE_NAMES.map((name) => [name, open(name)])) as Tables;
}
