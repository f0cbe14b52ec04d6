/** What the table service's errors look like to the code above the client library. */
export class StorageError extends Error {
  readonly statusCode: number | undefined;
  readonly details: { readonly odataError: { readonly code: string } };

  /** `index`: of the write that a transaction failed for, with which the message begins. */
  constructor(statusCode: number | undefined, code: string, index?: number) {
    const { stackTraceLimit } = Error;
    // Nobody looks where the model threw it, and to find that out takes longer than all else here.
    Error.stackTraceLimit = 0;
    super(index === undefined ? code : `${index}:${code}`);
    Error.stackTraceLimit = stackTraceLimit;
    this.statusCode = statusCode;
    this.details = { odataError: { code } };
  }
}

export type Properties = Readonly<Record<string, unknown>>;

/** One write of one row. `etag` "*" asks only that the row is there. */
export type Action =
  | {
      readonly kind: "create" | "put" | "put_merge";
      readonly rowKey: string;
      readonly properties: Properties;
    }
  | {
      readonly kind: "replace" | "merge";
      readonly rowKey: string;
      readonly properties: Properties;
      readonly etag: string;
    }
  | { readonly kind: "delete"; readonly rowKey: string; readonly etag: string };

export interface ModelRow {
  readonly rowKey: string;
  readonly properties: Properties;
  readonly etag: string;
}

export interface PageRequest {
  readonly partitionKey: string;
  readonly from: string;
  readonly before: string | undefined;
  readonly limit: number;
}

interface Partition {
  readonly rows: Map<string, ModelRow>;
  /** In order; also of rows that were deleted, until they are as many as those that are there. */
  keys: string[];
}

const ACTIONS_MAX = 100;
const KEY_LENGTH_MAX = 512;
const TEXT_LENGTH_MAX = 32_768;
const ROW_BYTES_MAX = 1024 * 1024;
const TRANSACTION_BYTES_MAX = 4 * 1024 * 1024;
/** What a number, a flag or a time takes at most. */
const VALUE_BYTES = 8;
/** The headers of a write within a transaction, about. */
const FRAME_BYTES = 500;
const FORBIDDEN_IN_KEYS = /[/\\#?\p{Cc}]/u;

const missing = (index?: number) => new StorageError(404, "ResourceNotFound", index);
const exists = (index: number) => new StorageError(409, "EntityAlreadyExists", index);
const changed = (index: number) => new StorageError(412, "UpdateConditionNotSatisfied", index);

function positionOf(keys: readonly string[], rowKey: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? "") < rowKey) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Told about every transaction that was applied. */
export type Commit = (
  place: { table: string; partitionKey: string },
  rows: readonly ModelRow[],
) => void;

/**
 * The rules of the table service, without its faults: versions, transactions of one partition, order of keys, limits.
 * Held against the storage emulator by the contract suite.
 */
export class TableModel {
  readonly #tables = new Map<string, Map<string, Partition>>();
  #version = 0;
  onCommit: Commit = () => undefined;

  createTable(table: string): void {
    if (!this.#tables.has(table)) this.#tables.set(table, new Map());
  }

  #partitions(table: string): Map<string, Partition> {
    const partitions = this.#tables.get(table);
    if (partitions === undefined) throw new StorageError(404, "TableNotFound");
    return partitions;
  }

  find(table: string, partitionKey: string, rowKey: string): ModelRow {
    const found = this.#partitions(table).get(partitionKey)?.rows.get(rowKey);
    if (found === undefined) throw missing();
    return found;
  }

  page(table: string, { partitionKey, from, before, limit }: PageRequest): ModelRow[] {
    const partition = this.#partitions(table).get(partitionKey);
    if (partition === undefined) return [];
    const rows: ModelRow[] = [];
    for (let index = positionOf(partition.keys, from); rows.length < limit; index += 1) {
      const key = partition.keys[index];
      if (key === undefined || (before !== undefined && key >= before)) break;
      const row = partition.rows.get(key);
      if (row !== undefined) rows.push(row);
    }
    return rows;
  }

  /** Keys of the partitions from one on and before another, in order. */
  partitionKeys(table: string, from: string, before: string | undefined): string[] {
    return [...this.#partitions(table).keys()]
      .filter((key) => key >= from && (before === undefined || key < before))
      .toSorted();
  }

  /** What is stored, for rules to look at; no call of anybody. */
  *rows(table: string, prefix = ""): Generator<ModelRow & { readonly partitionKey: string }> {
    for (const [partitionKey, { rows, keys }] of this.#tables.get(table) ?? [])
      for (const key of keys) {
        const row = rows.get(key);
        if (row !== undefined && key.startsWith(prefix)) yield { ...row, partitionKey };
      }
  }

  /** Loses rows, as no call of the product does. Returns how many. */
  lose(isLost: (row: ModelRow) => boolean): number {
    let lost = 0;
    for (const partitions of this.#tables.values())
      for (const { rows } of partitions.values())
        for (const row of rows.values()) if (isLost(row) && rows.delete(row.rowKey)) lost += 1;
    return lost;
  }

  /** All or nothing; the new versions by row key. @throws StorageError */
  transact(
    table: string,
    partitionKey: string,
    actions: readonly Action[],
  ): ReadonlyMap<string, string> {
    const partitions = this.#partitions(table);
    checkLimits(partitionKey, actions);
    const partition = partitions.get(partitionKey) ?? { rows: new Map(), keys: [] };
    for (const [index, action] of actions.entries())
      checkCondition(action, partition.rows.get(action.rowKey), index);
    const etags = new Map<string, string>();
    const written = actions.flatMap((action) => this.#write(partition, action) ?? []);
    // A long run makes and empties very many.
    if (partition.rows.size > 0) partitions.set(partitionKey, partition);
    else partitions.delete(partitionKey);
    for (const { rowKey, etag } of written) etags.set(rowKey, etag);
    this.onCommit({ table, partitionKey }, written);
    return etags;
  }

  #write(partition: Partition, action: Action): ModelRow | undefined {
    const { rows, keys } = partition;
    const { rowKey } = action;
    if (action.kind === "delete") {
      rows.delete(rowKey);
      if (keys.length > 2 * rows.size + 16) partition.keys = keys.filter((key) => rows.has(key));
      return undefined;
    }
    const position = positionOf(keys, rowKey);
    this.#version += 1;
    const isMerge = action.kind === "merge" || action.kind === "put_merge";
    const before = isMerge ? rows.get(rowKey)?.properties : undefined;
    const etag = `W/"version-${this.#version}"`;
    const row = { rowKey, properties: { ...before, ...action.properties }, etag };
    if (keys[position] !== rowKey) keys.splice(position, 0, rowKey);
    rows.set(rowKey, row);
    return row;
  }
}

function checkCondition(action: Action, stored: ModelRow | undefined, index: number): void {
  switch (action.kind) {
    case "create":
      if (stored !== undefined) throw exists(index);
      return;
    case "put":
    case "put_merge":
      return;
    case "replace":
    case "merge":
    case "delete":
      if (stored === undefined) throw missing(index);
      if (action.etag !== "*" && action.etag !== stored.etag) throw changed(index);
  }
}

function checkKey(key: string, index?: number): void {
  if (key.length > KEY_LENGTH_MAX) throw new StorageError(400, "KeyValueTooLarge", index);
  if (FORBIDDEN_IN_KEYS.test(key)) throw new StorageError(400, "OutOfRangeInput", index);
}

/** The size of a row by the service's own rule, near enough: two bytes a character, names included. */
function bytesOf(rowKey: string, properties: Properties): number {
  let bytes = 2 * rowKey.length;
  for (const name of Object.keys(properties)) {
    const value = properties[name];
    bytes += 2 * name.length + (typeof value === "string" ? 2 * value.length : VALUE_BYTES);
  }
  return bytes;
}

/** The length of a transaction as it is sent, near enough. */
function sentBytes(actions: readonly Action[]): number {
  return actions.reduce((sum, action) => {
    const body =
      action.kind === "delete" ? 0 : Buffer.byteLength(JSON.stringify(action.properties));
    return sum + FRAME_BYTES + body;
  }, 0);
}

function checkLimits(partitionKey: string, actions: readonly Action[]): void {
  if (actions.length > ACTIONS_MAX) throw new StorageError(400, "InvalidInput");
  if (actions.length > 1 && new Set(actions.map(({ rowKey }) => rowKey)).size < actions.length)
    throw new StorageError(400, "InvalidDuplicateRow");
  checkKey(partitionKey);
  let total = 0;
  for (const [index, action] of actions.entries()) {
    checkKey(action.rowKey, index);
    if (action.kind === "delete") continue;
    for (const value of Object.values(action.properties))
      if (typeof value === "string" && value.length > TEXT_LENGTH_MAX)
        throw new StorageError(400, "PropertyValueTooLarge", index);
    const bytes = bytesOf(action.rowKey, action.properties);
    if (bytes > ROW_BYTES_MAX) throw new StorageError(400, "EntityTooLarge", index);
    total += bytes;
  }
  // Text is sent in one byte a character at least.
  if (total / 2 > TRANSACTION_BYTES_MAX / 4 && sentBytes(actions) > TRANSACTION_BYTES_MAX)
    throw new StorageError(413, "RequestBodyTooLarge");
}
