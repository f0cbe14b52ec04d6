import { availableParallelism } from "node:os";
import { acceptBesideWork } from "./accept-beside-work.ts";
import { acceptInRegion } from "./accept-in-region.ts";
import { measureCell, type Cell, type Load } from "./cell.ts";
import { startBenchStorage, type BenchStorage } from "./emulator.ts";
import { acceptTable, goalsTable, singleText } from "./report.ts";
import { ratio, saveResults } from "./results.ts";
import { runBench } from "./run.ts";

const LOADS: readonly Load[] = [1, 50].flatMap((tenants) => [
  { tenants, legs: 1, concurrency: 1, calls: 50 },
  { tenants, legs: 2, concurrency: 16, calls: 128 },
  { tenants, legs: 2, concurrency: 64, calls: 192 },
  { tenants, legs: 2, concurrency: 256, calls: 256 },
]);

/** Not shown: the first hundreds of calls of a process, the bare ones too, run on code that is not compiled yet. */
const WARM_UP: Load = { tenants: 1, legs: 2, concurrency: 16, calls: 500 };

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

function ratiosOf(cells: readonly Cell[]) {
  const named = cells.map(({ load, product, http, ...cell }) => {
    const ratios = {
      ofHttp: ratio(cell.ofHttp),
      p50OfHttp: ratio(product.p50Ms / http.p50Ms),
      tail: ratio(product.p99Ms / product.p50Ms),
      requestsPerPost: ratio(cell.requestsPerPost),
      postsPerTransaction: ratio(cell.postsPerTransaction),
    };
    return [`${load.tenants} tenants, ${load.concurrency} at once`, ratios] as const;
  });
  return Object.fromEntries(named);
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
  await saveResults("accept", ratiosOf(cells));
  await acceptInRegion();
  await acceptBesideWork();
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(`\nEvery answer was right. ${seconds.toFixed(0)} s.`);
}

runBench(main);
