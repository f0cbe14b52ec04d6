import { undefinedIfDamaged } from "./storage/damaged-row.ts";

/** Rows of a query whose entries can be told apart without reading what they list: as many as the service returns. */
export const SEARCHED_ROWS_MAX = 1_000;
const READS_AT_ONCE = 25;

interface FoundEntry<Entry> {
  readonly key: string;
  /** Undefined when the row is damaged. */
  readonly entry: Entry | undefined;
}

interface IndexSearch<Entry, Item> {
  /** Lists entries from a key on in one query: as many as the limit says, and fewer only at the end of the index. */
  readonly list: (at: string | undefined, rows: number) => Promise<readonly FoundEntry<Entry>[]>;
  /** Tells from the index alone whether an item may fit. Absent when all may. */
  readonly mayFit?: ((entry: Entry) => boolean) | undefined;
  /** Reads what an entry lists. @throws DamagedRow */
  readonly read: (entry: Entry) => Promise<Item | undefined>;
  /** Names what an entry lists, which is read once. Absent when each entry lists another item. */
  readonly idOf?: (entry: Entry) => string;
  readonly fits: (item: Item, key: string) => boolean;
  /** Where to begin: the key of an entry. */
  readonly at: string | undefined;
  readonly limit: number;
  readonly rows: number;
  readonly queriesMax: number;
  readonly readsMax: number;
}

/**
 * Returns the items that fit in the order of an index, and the key of the entry at which the next page begins. Requests
 * and reads are bounded, so a page may be short or empty without being the last. Leaves out what is damaged, or gone.
 */
export async function searchIndex<Entry, Item>(
  search: IndexSearch<Entry, Item>,
): Promise<{ readonly items: readonly Item[]; readonly next: string | undefined }> {
  const { list, mayFit, read, idOf, fits, limit, rows, queriesMax, readsMax } = search;
  const items: Item[] = [];
  const reads = new Map<string, Promise<Item | undefined>>();
  let { at } = search;
  for (let queries = 0; queries < queriesMax; queries += 1) {
    const entries = await list(at, rows);
    const candidates = entries.flatMap(({ key, entry }) =>
      entry === undefined || mayFit?.(entry) === false
        ? []
        : [{ key, entry, id: idOf?.(entry) ?? key }],
    );
    for (let first = 0; first < candidates.length;) {
      const before = reads.size;
      const batch: ((typeof candidates)[number] & { reading: Promise<Item | undefined> })[] = [];
      for (const candidate of candidates.slice(first)) {
        const isEnough = items.length === limit || reads.size === readsMax;
        let reading = reads.get(candidate.id);
        if (reading === undefined) {
          if (isEnough || reads.size - before === READS_AT_ONCE) break;
          reading = undefinedIfDamaged(read(candidate.entry));
          reads.set(candidate.id, reading);
        }
        batch.push({ ...candidate, reading });
      }
      if (batch.length === 0) return { items, next: candidates[first]?.key };
      const found = await Promise.all(batch.map(({ reading }) => reading));
      for (const [place, { key }] of batch.entries()) {
        const item = found[place];
        if (item === undefined || !fits(item, key)) continue;
        if (items.length === limit) return { items, next: key };
        items.push(item);
      }
      first += batch.length;
    }
    const last = entries.at(-1);
    if (entries.length < rows || last === undefined) return { items, next: undefined };
    at = `${last.key} `;
    if (items.length === limit || reads.size === readsMax) break;
  }
  return { items, next: at };
}
