import type { AccessCache } from "./access/access-cache.ts";
import type { BackgroundDeps } from "../background/deps.ts";
import type { Operators } from "../callers/tokens.ts";
import type { MediaDeps } from "../media/deps.ts";
import type { ConcurrencyLimit } from "../runtime/promises.ts";

/** What routes pass to verbs: everything that any verb needs from the process. */
export interface HttpDeps extends BackgroundDeps, MediaDeps {
  readonly operators: Operators;
  /** What the latest requests were checked against, for those to come. */
  readonly accessCache: AccessCache;
  /** The work on hints that came along with others: the host, which counts messages, knows nothing of it. */
  readonly companions: ConcurrencyLimit;
}
