import { availableParallelism } from "node:os";
import { measureCell, type Cell, type Load } from "./cell.ts";
import { startBenchStorage, type BenchStorage } from "./emulator.ts";
import { acceptTable, goalsTable, singleText } from "./report.ts";

const LOADS: readonly Load[] = [1, 50].flatMap((tenants) => [
  { tenants, concurrency: 1, calls: 50 },
  { tenants, concurrency: 16, calls: 128 },
  { tenants, concurrency: 64, calls: 192 },
]);

/** Not shown: the first load of a process runs on code that is not compiled yet. */
const WARM_UP: Load = { tenants: 1, concurrency: 16, calls: 100 };

/**
 * Emulators of its own for every load: once a minute the queue emulator removes what deleted messages left behind, answers
 * nobody meanwhile, and takes the longer (by the square) the more there were.
 */
async function inNewStorage<T>(run: (storage: BenchStorage) => Promise<T>): Promise<T> {
  const storage = await startBenchStorage();
  try {
    return await run(storage);
  } finally {
    await storage.stop();
  }
}

async function main(): Promise<void> {
  const startedAt = performance.now();
  console.log(
    `node ${process.version}, ${availableParallelism()} cores, storage emulator in memory`,
  );
  const cells: Cell[] = [];
  await inNewStorage((storage) => measureCell(storage, WARM_UP, 1));
  for (const load of LOADS) cells.push(await inNewStorage((storage) => measureCell(storage, load)));
  const [first] = cells;
  console.log(`\n${acceptTable(cells)}\n`);
  if (first !== undefined) console.log(`${singleText(first)}\n`);
  console.log(goalsTable(cells));
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(`\nEvery answer was right and every ledger adds up. ${seconds.toFixed(0)} s.`);
}

try {
  await main();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
