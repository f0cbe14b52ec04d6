import * as z from "zod";
import { shape } from "../runtime/shape.ts";
import { jsonOrNull, rowCodec, text } from "../runtime/storage/codec.ts";
import type { RowWrite, StoredRow } from "../runtime/storage/row.ts";
import type { Head, WriterLease } from "./operation.ts";

/** Key of a partition's head. The rows after it, up to `AFTER_HEAD_ROWS`, are read and cached with it. */
export const HEAD_KEY = "H";
export const AFTER_HEAD_ROWS = "H|";

/** Reports whether the row is the head or one that is read with it, such as the wallet. */
export const isHeadRow = (rowKey: string) => rowKey >= HEAD_KEY && rowKey < AFTER_HEAD_ROWS;

const writerForm = shape((): z.ZodType<WriterLease> =>
  z.looseObject({ by: z.string(), forMs: z.number() }),
);

/** What every transaction of the partition replaces. */
export const headRow = rowCodec("head of a partition", {
  // "" until it is first raised. An empty version matches nothing.
  accessVersion: text(),
  writer: jsonOrNull(writerForm),
});

/** Makes the head from its row and those that were read with it. @throws DamagedRow */
export function toHead(stored: readonly StoredRow[]): Head {
  const rows = new Map(stored.map((one) => [one.row.rowKey, one]));
  const own = rows.get(HEAD_KEY);
  rows.delete(HEAD_KEY);
  if (own === undefined) return { accessVersion: "", writer: null, etag: "", rows };
  return { ...headRow.decode(own.row), etag: own.etag, rows };
}

export function headWrite({ etag }: Head, next: Pick<Head, "accessVersion" | "writer">): RowWrite {
  const row = { ...headRow.encode(next), rowKey: HEAD_KEY };
  return etag === "" ? { kind: "create", row } : { kind: "merge", row, etag };
}
