import { newWork, works } from "../../src/shared/runtime/telemetry/work-context.ts";

/** Runs a piece of work, as a route, a worker or a timer does. */
export function inWork<T>(start: Parameters<typeof newWork>[0], run: () => Promise<T>): Promise<T> {
  const work = newWork(start);
  return works.run(work, run).finally(work.end);
}
