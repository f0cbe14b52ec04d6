/**
 * Calls the function with each item, `size` of them at a time, and returns the results in the items' order. Rejects with
 * the first error; no later batch is begun then.
 */
export async function inBatches<Item, Result>(
  items: readonly Item[],
  size: number,
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += size)
    results.push(...(await Promise.all(items.slice(start, start + size).map(run))));
  return results;
}
