import type { SystemScope } from "../../callers/scope.ts";
import type { ErasureDeps } from "./deps.ts";
import type { Erasure } from "./erasure.ts";

/** What erasing a profile and erasing a platform differ in. */
export interface Erasing {
  /** Returns whether the request was carried out that decides it: nothing is erased before. */
  isDecided(services: ErasureDeps, erasure: Erasure): Promise<boolean>;
  /** Does a bounded piece of work. Returns the erasure after it; undefined when nothing is left. May be repeated. */
  take(services: ErasureDeps, system: SystemScope, erasure: Erasure): Promise<Erasure | undefined>;
  /** Records the end: after a crash twice, but always. */
  finish(services: ErasureDeps, system: SystemScope, erasure: Erasure): void;
}
