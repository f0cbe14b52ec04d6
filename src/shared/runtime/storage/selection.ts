import type { StoredRow } from "./row.ts";

/** A range of a partition's rows, by row key. */
export interface RowRange {
  readonly partitionKey: string;
  /** Inclusive. */
  readonly from?: string;
  /** Exclusive. */
  readonly before?: string;
  readonly limit: number;
  /** The only columns that are read. By default all are. */
  readonly columns?: readonly string[];
}

/** Selects rows of a table by their values, in one partition, a range of partitions or all of them. */
export interface Selection {
  readonly partitionKey?: string;
  /** Range of partition keys. The first bound is inclusive, the second exclusive. */
  readonly partitions?: { readonly from?: string; readonly before?: string };
  /** Inclusive. */
  readonly from?: string;
  /** Exclusive. */
  readonly before?: string;
  /** A row fits when this property has one of `values`. */
  readonly property?: string;
  readonly values?: readonly string[];
  /** A row fits when this property is a time before the given one. */
  readonly olderThan?: { readonly property: string; readonly time: string };
  /** Maximum number of rows in a page. */
  readonly pageRows?: number;
}

/** A page of selected rows and where the next one begins, undefined at the end. It may be empty before the end. */
export interface SelectedPage {
  readonly rows: readonly (StoredRow & { readonly partitionKey: string })[];
  readonly next: string | undefined;
}

/** Quotes text for a filter. The SDK has `odata` for this, but is only loaded when storage is first used. */
function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Returns the OData filter of a selection, or "" for a whole table. */
export function filterOf(selection: Selection): string {
  const { partitionKey, partitions, from, before, property, values = [], olderThan } = selection;
  const fits = values.map((value) => `${property} eq ${literal(value)}`).join(" or ");
  const conditions = fits === "" ? [] : [`(${fits})`];
  if (partitionKey !== undefined) conditions.push(`PartitionKey eq ${literal(partitionKey)}`);
  if (partitions?.from !== undefined)
    conditions.push(`PartitionKey ge ${literal(partitions.from)}`);
  if (partitions?.before !== undefined)
    conditions.push(`PartitionKey lt ${literal(partitions.before)}`);
  if (from !== undefined) conditions.push(`RowKey ge ${literal(from)}`);
  if (before !== undefined) conditions.push(`RowKey lt ${literal(before)}`);
  if (olderThan !== undefined)
    conditions.push(`${olderThan.property} lt ${literal(olderThan.time)}`);
  return conditions.join(" and ");
}
