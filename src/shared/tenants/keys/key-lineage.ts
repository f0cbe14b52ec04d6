import { fromChunks, toChunks, type Row, type RowValue } from "../../runtime/storage/row.ts";

/** Keys that a key descends from, at most. */
export const LINEAGE_MAX = 500;

/** The keys that a key descends from, the first one first; none for one that a person made. */
export type Lineage = readonly string[];

/** On every row, so that what is deleted in between leaves no gap. The origin is a column of its own, to be searched by. */
export function lineageColumns(lineage: Lineage): Record<string, RowValue> {
  const [origin] = lineage;
  return origin === undefined ? {} : { origin, ...toChunks("lineage", lineage.join(" ")) };
}

/** Empty also for a row of a version that did not keep it. */
export function lineageOf(row: Row): Lineage {
  return fromChunks("lineage", row).split(" ").filter(Boolean);
}
