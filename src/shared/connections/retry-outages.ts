import { setTimeout as wait } from "node:timers/promises";
import { AppError } from "../runtime/errors.ts";

const TRIES_MAX = 5;
const WAIT_MS = 50;

/** Repeats a write while storage doesn't answer. */
export async function retryOutages<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      const isOutage = error instanceof AppError && error.code === "service_unavailable";
      if (!isOutage || attempt === TRIES_MAX) throw error;
      await wait(WAIT_MS * 2 ** attempt);
    }
  }
}
