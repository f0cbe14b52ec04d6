import { setTimeout as wait } from "node:timers/promises";
import type { FatedCall } from "../model/machine.ts";
import { startRelay, type Relay } from "./relay.ts";
import { runAround } from "./replace-in.ts";

/** At which of its writes a process dies, counted from 1, and whether that write has arrived. */
export interface Death {
  readonly nth: number;
  readonly moment: "before" | "after";
  /** Reports whether a write counts. All do by default, except for those in no order. */
  readonly counts?: (call: FatedCall) => boolean;
}

const UNDER_WAY_MS = 50;

/** What is written beside a request and comes in no order: rates, failed logins, when a key was used. */
const isBeside = ({ table, rowKeys }: FatedCall) =>
  table === "ratewindows" || (table === "keys" && rowKeys[0] === "U");

/** The removal of a blob, as one of the writes. */
const REMOVAL: FatedCall = { table: "blobs", method: "POST", rowKeys: [] };

const never = <T>() => new Promise<T>(() => undefined);

/**
 * Runs `act` on one more process of a deployment, which dies at one of its writes to tables, or removals of blobs: from
 * then on it writes, reads and sends nothing, and what it was asked is never answered. Returns whether it lived to the end
 * of `act`.
 */
export async function dyingAt(
  calm: Relay,
  { nth, moment, counts = () => true }: Death,
  act: (doomed: Relay) => Promise<unknown>,
): Promise<"died" | "lived"> {
  const died = Promise.withResolvers<"died">();
  let writes = 0;
  const isLastWrite = () => {
    writes += 1;
    if (writes !== nth) return false;
    doomed.queues.onSend = () => "lose";
    died.resolve("died");
    return true;
  };
  const doomed = await startRelay({
    sameDeploymentAs: calm,
    tableFault(call) {
      if (writes >= nth) return "dies_before";
      if (call.method === "GET" || isBeside(call) || !counts(call) || !isLastWrite()) return "pass";
      return moment === "before" ? "dies_before" : "dies_after";
    },
  });
  runAround(doomed.services.publishing.files.stores.blobs, async (name, run) => {
    if (writes >= nth) return never();
    const isLast = name === "remove" && counts(REMOVAL) && isLastWrite();
    if (isLast && moment === "before") return never();
    const answer = await run();
    return writes >= nth ? never() : answer;
  });
  const lived = act(doomed).then(() => "lived" as const);
  const end = await Promise.race([lived, died.promise]);
  if (end === "died") {
    // Its connections end with it. What was already handed over arrives now, before the clock of the test goes on.
    void doomed.services.background.work.stop.begin(calm.clock.now());
    await wait(UNDER_WAY_MS);
  }
  await doomed.stop();
  return end;
}
