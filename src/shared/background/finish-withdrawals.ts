import { finishWithdrawal } from "../connections/withdraw.ts";
import { overItems, type TakeStep } from "../runtime/walk-step.ts";
import type { BackgroundDeps } from "./deps.ts";

const LOOK_MS_MAX = 10_000;

/** Makes the steps that end the connections of withdrawals which the network's own call left unfinished. */
export function finishWithdrawals(services: BackgroundDeps): TakeStep {
  return overItems({
    log: services.log,
    what: "finish-withdrawals",
    async page(_at, after = "") {
      const { keys, next } = await services.withdrawals.openKeys(after === "" ? undefined : after);
      return { items: keys.map((id) => ({ id, after })), next };
    },
    async look(key) {
      const isDone = await finishWithdrawal(services, key, LOOK_MS_MAX);
      return { counts: { finished: isDone ? 1 : 0 } };
    },
  });
}
