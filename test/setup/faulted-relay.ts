import type { TableFault } from "../model/storage-model.ts";
import { pairsOf } from "./long-check.ts";
import { startRelay, type Relay } from "./relay.ts";

const FAULTS: readonly TableFault[] = [
  "lose_request",
  "lose_answer",
  "late",
  "false_412",
  "unavailable",
];
/** Every fault, and each of the first writes of a call; in the long check every fault at each of them. */
export const faultsAtWrites = (
  writesMax: number,
): readonly (readonly [fault: TableFault, nth: number])[] =>
  pairsOf(
    FAULTS,
    Array.from({ length: writesMax }, (_, index) => index + 1),
  );

/** Two instances of one deployment: writes of `relay` to tables meet the fault that is asked for, those of `calm` none. */
export interface FaultedRelay {
  readonly calm: Relay;
  readonly relay: Relay;
  /** The n-th write from now on meets the fault; all others pass. */
  next(fault: TableFault, nth: number): void;
  /** No write meets a fault from now on. */
  clear(): void;
  /** Lets a write land that a fault made late. */
  land(): Promise<void>;
  stop(): Promise<void>;
}

export async function startFaultedRelay(): Promise<FaultedRelay> {
  let weather: { readonly fault: TableFault; countdown: number } = { fault: "pass", countdown: 0 };
  const calm = await startRelay();
  const relay = await startRelay({
    sameDeploymentAs: calm,
    tableFault({ method, table, rowKeys }) {
      // What is written beside the request comes in no order that a test could count: a key's last use, rate limits.
      const isBeside = table === "ratewindows" || rowKeys.includes("U");
      if (method === "GET" || isBeside || weather.countdown === 0) return "pass";
      weather.countdown -= 1;
      return weather.countdown === 0 ? weather.fault : "pass";
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
    async land() {
      await calm.storage?.land();
    },
    async stop() {
      await relay.stop();
      await calm.stop();
    },
  };
}
