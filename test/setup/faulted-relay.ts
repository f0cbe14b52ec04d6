import { setTimeout as wait } from "node:timers/promises";
import { inject } from "vitest";
import { startFaultProxy, type Fault } from "./fault-proxy.ts";
import { startRelay, type Relay } from "./relay.ts";

const FAULTS: readonly Fault[] = [
  "lose_request",
  "lose_answer",
  "late",
  "false_412",
  "unavailable",
];
/** Longer than a late write needs to land. */
const SETTLED_MS = 250;

/** Every fault at each of the first writes of a call. */
export function faultsAtWrites(writesMax: number): (readonly [fault: Fault, nth: number])[] {
  return FAULTS.flatMap((fault) =>
    Array.from({ length: writesMax }, (_, index) => [fault, index + 1] as const),
  );
}

/** Two instances of one deployment: writes of `relay` to tables meet the fault that is asked for, those of `calm` none. */
export interface FaultedRelay {
  readonly calm: Relay;
  readonly relay: Relay;
  /** The n-th write from now on meets the fault; all others pass. */
  next(fault: Fault, nth: number): void;
  /** No write meets a fault from now on. */
  clear(): void;
  stop(): Promise<void>;
}

/** Waits for a write that the fault let land late. */
export async function settleAfter(fault: Fault): Promise<void> {
  if (fault === "late") await wait(SETTLED_MS);
}

export async function startFaultedRelay(): Promise<FaultedRelay> {
  let weather: { readonly fault: Fault; countdown: number } = { fault: "pass", countdown: 0 };
  const calm = await startRelay();
  const connectionString = inject("azurite");
  const tablePort = Number(/TableEndpoint=http:\/\/127\.0\.0\.1:(\d+)/.exec(connectionString)?.[1]);
  const proxy = await startFaultProxy(tablePort, ({ method, path }) => {
    // What is written beside the request comes in no order that a test could count: a key's last use, rate limits.
    const isBeside = /RowKey='U'|ratewindows/.test(decodeURIComponent(path));
    if (method === "GET" || isBeside || weather.countdown === 0) return "pass";
    weather.countdown -= 1;
    return weather.countdown === 0 ? weather.fault : "pass";
  });
  const relay = await startRelay({
    sameDeploymentAs: calm,
    settings: {
      AzureWebJobsStorage: connectionString.replace(`:${tablePort}/`, `:${proxy.port}/`),
    },
  });
  return {
    calm,
    relay,
    next(fault, nth) {
      weather = { fault, countdown: nth };
    },
    clear() {
      weather = { fault: "pass", countdown: 0 };
    },
    async stop() {
      await relay.stop();
      await calm.stop();
      await proxy.stop();
    },
  };
}
