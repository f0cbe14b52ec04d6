import { Accepting } from "./accepting.ts";
import { measure, timingOf, type Timing } from "./load.ts";
import { startRelayInRegion, STORAGE_MS } from "./region.ts";
import { BENCH_NETWORKS, openTenant, type Tenant } from "./relay.ts";
import { goalText, tableText } from "./report.ts";
import { ratio, saveResults } from "./results.ts";

const LOADS = [
  { tenants: 1, legs: 1, concurrency: 1, calls: 200 },
  { tenants: 1, legs: 2, concurrency: 1, calls: 200 },
  { tenants: 1, legs: 2, concurrency: 64, calls: 1_500 },
  { tenants: 50, legs: 2, concurrency: 64, calls: 3_000 },
] as const;
const GOAL_SINGLE = 1.65;
/** Which do not count. */
const WARM_UP_CALLS = 200;

interface Measured {
  readonly name: string;
  readonly product: Timing;
  /** A transaction and a message, one after the other, and nothing else. */
  readonly bare: Timing;
  readonly requestsPerPost: number;
}

async function measureLoad({ tenants, legs, ...load }: (typeof LOADS)[number]): Promise<Measured> {
  const relay = startRelayInRegion();
  const opened: Tenant[] = [];
  while (opened.length < tenants) opened.push(await openTenant(relay.services));
  const accepting = new Accepting(relay.services, opened, BENCH_NETWORKS.slice(0, legs));
  const accept = (index: number) => accepting.accept(index);
  await measure({ ...load, calls: WARM_UP_CALLS, call: accept });
  const before = relay.requests();
  const product = timingOf([await measure({ ...load, call: accept })]);
  const requestsPerPost = (relay.requests() - before) / load.calls;
  const bare = timingOf([await measure({ ...load, call: () => relay.bareRequests(2) })]);
  const who = tenants === 1 ? "one tenant" : `${tenants} tenants`;
  return {
    name: `${who}, ${load.concurrency} at once, ${legs === 1 ? "one leg" : `${legs} legs`}`,
    product,
    bare,
    requestsPerPost,
  };
}

/** Accepting on storage that answers as fast as in a region, without an emulator beside it. */
export async function acceptInRegion(): Promise<void> {
  const all: Measured[] = [];
  for (const load of LOADS) all.push(await measureLoad(load));
  console.log(
    `\nstorage of this process that answers after ${STORAGE_MS} ms\n${tableText([
      ["", "accepted/s", "p50 ms", "p99 ms", "bare p50 ms", "of bare p50", "requests/post"],
      ...all.map(({ name, product, bare, requestsPerPost }) => [
        name,
        product.perSecond.toFixed(0),
        product.p50Ms.toFixed(1),
        product.p99Ms.toFixed(1),
        bare.p50Ms.toFixed(1),
        `${(product.p50Ms / bare.p50Ms).toFixed(1)} ×`,
        requestsPerPost.toFixed(2),
      ]),
    ])}`,
  );
  const [single] = all;
  if (single !== undefined) {
    const times = single.product.p50Ms / single.bare.p50Ms;
    const text = `p50 of a single accept at most ${GOAL_SINGLE} × the bare transaction plus send`;
    console.log(goalText({ text, measured: `${times.toFixed(2)} ×`, isMet: times <= GOAL_SINGLE }));
  }
  const ratios = all.map(({ name, product, bare, requestsPerPost }) => [
    name,
    {
      p50OfBare: ratio(product.p50Ms / bare.p50Ms),
      tail: ratio(product.p99Ms / product.p50Ms),
      requestsPerPost: ratio(requestsPerPost),
    },
  ]);
  await saveResults("acceptInRegion", Object.fromEntries(ratios));
}
