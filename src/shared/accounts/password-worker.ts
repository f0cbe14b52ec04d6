import { parentPort } from "node:worker_threads";
import { compareSync, hashSync } from "bcryptjs";
import type { HashingTask } from "./hashing-threads.ts";

/** Entry point of a hashing thread: an entry point of the build, too. Nothing else runs here, so it may block. */
function answerTo(task: HashingTask): string | boolean {
  return task.kind === "hash" ? hashSync(task.text, task.cost) : compareSync(task.text, task.hash);
}

const port = parentPort;
port?.on("message", (task: HashingTask) => port.postMessage(answerTo(task)));
