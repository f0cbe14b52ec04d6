import { type IdKind, inverted, isId, timeOfId } from "../ids.ts";
import type { Row } from "./row.ts";
import { scan, type ScannedPage } from "./scan.ts";
import { afterPrefix, type Table } from "./table.ts";

/** Where a page of a list starts, and the maximum number of its items. */
export interface ListPosition {
  readonly after: string | undefined;
  readonly limit: number;
}

const TIME = "0000000000000000|";

/** A kind of rows within a partition that can be found by id and listed with the newest first. */
export interface NewestFirst<Item> {
  /** The range of all row keys of this kind. */
  readonly range: { readonly from: string; readonly before: string };
  /** Makes the row key from an id. It contains the id's time, which sorts lists and still allows point reads. */
  readonly key: (id: string) => string;
  idOf(row: Pick<Row, "rowKey">): string;
  /** Finds an item. The result is undefined for text that is not an id. @throws DamagedRow */
  find(table: Table, partitionKey: string, id: string): Promise<Item | undefined>;
  /** Lists the items that fit, without damaged ones. `after` is where the last page ended. */
  list(
    table: Table,
    partitionKey: string,
    position: ListPosition,
    fits?: (item: Item) => boolean,
  ): Promise<ScannedPage<Item>>;
}

/** Describes a kind of rows by its ids and the prefix of its keys. `toShown` decodes for lists that people read. */
export function newestFirst<Item>(
  kind: IdKind,
  prefix: string,
  decode: (partitionKey: string, row: Row) => Item,
  toShown = decode,
): NewestFirst<Item> {
  const range = { from: prefix, before: afterPrefix(prefix) };
  const key = (id: string) => `${prefix}${inverted(timeOfId(kind, id))}|${id}`;
  return {
    range,
    key,
    idOf: ({ rowKey }) => rowKey.slice(prefix.length + TIME.length),
    async find(table, partitionKey, id) {
      const stored = isId(kind, id) ? await table.find(partitionKey, key(id)) : undefined;
      return stored === undefined ? undefined : decode(partitionKey, stored.row);
    },
    list: (table, partitionKey, { after = prefix, limit }, fits = () => true) =>
      scan(table, {
        partitionKey,
        ...range,
        from: after,
        limit,
        pick({ row }) {
          const item = toShown(partitionKey, row);
          return fits(item) ? item : undefined;
        },
      }),
  };
}
