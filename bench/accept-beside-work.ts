import { randomBytes } from "node:crypto";
import { buildApp } from "../tools/build.ts";
import { throughBareHttp } from "./bare-http.ts";
import { openClients, rowsOfPost, type StoreBare } from "./bare-storage.ts";
import { openTenants } from "./cell.ts";
import { startBenchStorage, type BenchStorage } from "./emulator.ts";
import { HostProcess } from "./host-process.ts";
import { startInstantNetwork } from "./instant-network.ts";
import { measureFor, median, timingOf, type Measured } from "./load.ts";
import {
  acceptAsk,
  BENCH_PREFIX,
  openTenant,
  settingsOf,
  startRelay,
  succeed,
  type Tenant,
} from "./relay.ts";
import { goalText, tableText } from "./report.ts";
import { ratio, saveResults } from "./results.ts";
import { acceptPost } from "./whole-relay.ts";

const TENANTS = 50;
const CONCURRENCY = 64;
/** Workers are beside every round, and end posts in all but the first. */
const NETWORK_MS = 30_000;
const ROUNDS = 3;
const SECONDS = 14;
const BARE_SECONDS = 4;
const WARM_UP_SECONDS = 2;
const POST = { platforms: ["mastodon"] };
const GOAL_OF_BARE = 0.75;
const GOAL_TAIL = 3;

interface Round {
  readonly bare: Measured;
  readonly product: Measured;
  readonly cpuMsPerPost: number;
}

async function runRounds(host: HostProcess, tenants: readonly Tenant[], store: StoreBare) {
  let stored = 0;
  const bare = (seconds: number) =>
    measureFor({
      seconds,
      concurrency: CONCURRENCY,
      call: (index) => store(`bench-${index % TENANTS}`, (stored += 1)),
    });
  const product = (seconds: number) =>
    measureFor({
      seconds,
      concurrency: CONCURRENCY,
      async call(index) {
        const tenant = tenants[index % TENANTS];
        if (tenant === undefined) throw new Error("there is no tenant to post for");
        await acceptPost(() => host, tenant);
      },
    });
  await bare(WARM_UP_SECONDS);
  await product(WARM_UP_SECONDS);
  const rounds: Round[] = [];
  while (rounds.length < ROUNDS) {
    const ofBare = await bare(BARE_SECONDS);
    const cpuMs = await host.cpuMs();
    const ofProduct = await product(SECONDS);
    const cpuMsPerPost = ((await host.cpuMs()) - cpuMs) / ofProduct.latenciesMs.length;
    rounds.push({ bare: ofBare, product: ofProduct, cpuMsPerPost });
  }
  return rounds;
}

/** Starts the product in a process of its own, and what stores the same rows and message bare, in emulators of its own. */
async function measureBeside(storage: BenchStorage, bareStorage: BenchStorage): Promise<Round[]> {
  const prefix = `${BENCH_PREFIX}${randomBytes(6).toString("hex")}`;
  const network = await startInstantNetwork(NETWORK_MS);
  const services = startRelay(storage, prefix, network.settings);
  const tenants = await openTenants(services, TENANTS);
  const own = openClients(storage, { table: `${prefix}core`, queue: `${prefix}publishing` });
  const first = await openTenant(services);
  const acceptOne = async () => void (await succeed(services, acceptAsk(first, POST)));
  await acceptOne();
  await own.queue.clearMessages();
  const rows = await rowsOfPost(own, first.platformId, acceptOne);
  const names = { table: "bare", queue: "bare" };
  const clients = openClients(bareStorage, names);
  await Promise.all([clients.table.createTable(), clients.queue.create()]);
  const host = await HostProcess.start({ ...settingsOf(storage, prefix), ...network.settings });
  try {
    return await runRounds(host, tenants, throughBareHttp(bareStorage, names, rows));
  } finally {
    await Promise.all([host.stop(), network.stop()]);
  }
}

/** Measures accepting by a process whose workers publish meanwhile, for many tenants, on a network that is slow. */
export async function acceptBesideWork(): Promise<void> {
  await buildApp();
  const [storage, bareStorage] = await Promise.all([startBenchStorage(), startBenchStorage()]);
  let rounds: readonly Round[];
  try {
    rounds = await measureBeside(storage, bareStorage);
  } finally {
    await Promise.all([storage.stop(), bareStorage.stop()]);
  }
  const [product, bare] = [
    timingOf(rounds.map((round) => round.product)),
    timingOf(rounds.map((round) => round.bare)),
  ];
  const ofBare = median(
    rounds.map((round) => timingOf([round.product]).perSecond / timingOf([round.bare]).perSecond),
  );
  const tail = product.p99Ms / product.p50Ms;
  const cpuMsPerPost = median(rounds.map((round) => round.cpuMsPerPost));
  console.log(
    `\n${TENANTS} tenants, ${CONCURRENCY} at once, a process of the host with its workers, a network that answers after ${NETWORK_MS / 1000} s\n${tableText(
      [
        ["accepted/s", "p50 ms", "p99 ms", "bare/s", "of bare", "CPU ms/post"],
        [
          product.perSecond.toFixed(0),
          product.p50Ms.toFixed(0),
          product.p99Ms.toFixed(0),
          bare.perSecond.toFixed(0),
          ofBare.toFixed(2),
          cpuMsPerPost.toFixed(1),
        ],
      ],
    )}`,
  );
  console.log(
    goalText({
      text: `beside workers at least ${GOAL_OF_BARE} of bare, p99 at most ${GOAL_TAIL} × p50`,
      measured: `${ofBare.toFixed(2)}, ${tail.toFixed(1)} ×`,
      isMet: ofBare >= GOAL_OF_BARE && tail <= GOAL_TAIL,
    }),
  );
  await saveResults("acceptBesideWork", { ofBare: ratio(ofBare), tail: ratio(tail) });
}
