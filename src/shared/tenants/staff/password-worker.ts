import { compareSync, hashSync } from "bcryptjs";
import type { HashingTask } from "./hashing-threads.ts";

/** Runs a task. This module is what a hashing thread loads, and an entry of the build; nothing else runs in the thread, so it may block. */
export function answerTo(task: HashingTask): string | boolean {
  if (task.kind === "hash") return hashSync(task.text, task.cost);
  const right = compareSync(task.text, task.hash);
  for (const cost of task.burntCosts) hashSync(task.text, cost);
  return right;
}
