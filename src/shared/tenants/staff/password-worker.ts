import { compareSync, hashSync } from "bcryptjs";
import type { HashingTask } from "./hashing-threads.ts";

/** Runs a task. A hashing thread loads only this module, an entry of the build, so it may block. */
export async function answerTo(task: HashingTask): Promise<string | boolean | null> {
  if (task.kind === "hash") return hashSync(task.text, task.cost);
  if (task.kind === "estimate") {
    // Its dictionaries take 26 MB, and few requests set a password.
    const { weaknessOf } = await import("./password-strength.ts");
    return weaknessOf(task.text, task.words);
  }
  const right = compareSync(task.text, task.hash);
  for (const cost of task.burntCosts) hashSync(task.text, cost);
  return right;
}
