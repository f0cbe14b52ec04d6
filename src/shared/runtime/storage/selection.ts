import type { StoredRow } from "./row.ts";

/** A range of a partition's rows by their keys. */
export interface RowRange {
  readonly partitionKey: string;
  /** Inclusive. */
  readonly from?: string;
  /** Exclusive. */
  readonly before?: string;
  readonly limit: number;
}

/** A selection of a table's rows by their values, in one partition, a range of partitions or all. */
export interface Selection {
  readonly partitionKey?: string;
  /** By their keys, first inclusive, then exclusive. */
  readonly partitions?: { readonly from?: string; readonly before?: string };
  /** Inclusive. */
  readonly from?: string;
  /** Exclusive. */
  readonly before?: string;
  /** A row fits when the property has one of the values. */
  readonly property?: string;
  readonly values?: readonly string[];
  /** A row fits when this property, a time, is before that one. */
  readonly olderThan?: { readonly property: string; readonly time: string };
  /** Rows of a page, at most. */
  readonly pageRows?: number;
}

/** A page of selected rows, and where the next one begins, undefined at the end. It may be empty and not the last. */
export interface SelectedPage {
  readonly rows: readonly (StoredRow & { readonly partitionKey: string })[];
  readonly next: string | undefined;
}

/** Quotes text for a filter. Not with the SDK's `odata`, since the SDK is loaded when storage is first used. */
function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function ofPartitions({ partitionKey, partitions }: Selection): string[] {
  const conditions: string[] = [];
  if (partitionKey !== undefined) conditions.push(`PartitionKey eq ${literal(partitionKey)}`);
  if (partitions?.from !== undefined)
    conditions.push(`PartitionKey ge ${literal(partitions.from)}`);
  if (partitions?.before !== undefined)
    conditions.push(`PartitionKey lt ${literal(partitions.before)}`);
  return conditions;
}

/** Returns the OData filter of a selection; "" for a whole table. */
export function filterOf(selection: Selection): string {
  const { from, before, property, values = [], olderThan } = selection;
  const fits = values.map((value) => `${property} eq ${literal(value)}`).join(" or ");
  const conditions = [...(fits === "" ? [] : [`(${fits})`]), ...ofPartitions(selection)];
  if (from !== undefined) conditions.push(`RowKey ge ${literal(from)}`);
  if (before !== undefined) conditions.push(`RowKey lt ${literal(before)}`);
  if (olderThan !== undefined)
    conditions.push(`${olderThan.property} lt ${literal(olderThan.time)}`);
  return conditions.join(" and ");
}
