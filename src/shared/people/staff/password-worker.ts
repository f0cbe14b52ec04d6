import { setPriority } from "node:os";
import { isMainThread } from "node:worker_threads";
import { compareSync, hashSync } from "bcryptjs";
import type { HashingAnswer, HashingTask } from "./hashing-threads.ts";

/** Lower than that of the event loop, so that requests of other callers get a core before a hash does. */
const NICENESS = 3;
// On Linux, this is the priority of the thread alone. Elsewhere it would be that of the process.
if (!isMainThread && process.platform === "linux") setPriority(NICENESS);

/** Runs a task. A hashing thread loads only this module, an entry of the build, so it may block. */
export async function answerTo(task: HashingTask): Promise<HashingAnswer> {
  if (task.kind === "compare") {
    const isRight = compareSync(task.text, task.hash);
    for (const cost of task.burntCosts) hashSync(task.text, cost);
    return { isRight };
  }
  if (task.unlessWeak !== undefined) {
    const { password, words } = task.unlessWeak;
    // Its dictionaries take 26 MB, and few requests set a password.
    const { weaknessOf } = await import("./password-strength.ts");
    const weakness = weaknessOf(password, words);
    if (weakness !== null) return { weakness };
  }
  return { hash: hashSync(task.text, task.cost) };
}
