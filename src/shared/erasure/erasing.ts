import type { SystemScope } from "../callers/scope.ts";
import type { ErasureDeps } from "./deps.ts";
import type { Erasure } from "./erasure-stages.ts";

/** Differences between erasing a profile and erasing a platform. */
export interface Erasing {
  /** Reports whether the request that decides about the erasure was carried out. Nothing is erased before that. */
  isDecided(deps: ErasureDeps, erasure: Erasure): Promise<boolean>;
  /** Does a part of the work. Returns the erasure afterwards, or undefined when nothing is left. May be repeated. */
  take(deps: ErasureDeps, system: SystemScope, erasure: Erasure): Promise<Erasure | undefined>;
  /** Records the end. After a crash it is recorded twice, but never left out. */
  finish(deps: ErasureDeps, system: SystemScope, erasure: Erasure): void;
}
