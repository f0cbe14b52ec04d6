import type { BackgroundDeps } from "../background/deps.ts";
import type { Operators } from "../callers/tokens.ts";
import type { MediaDeps } from "../media/deps.ts";

/** What a route may hand to the verb that it runs: what all verbs together take of the process. */
export interface HttpDeps extends BackgroundDeps, MediaDeps {
  readonly operators: Operators;
}
