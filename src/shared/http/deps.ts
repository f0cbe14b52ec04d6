import type { KeptRows } from "./access/kept-rows.ts";
import type { BackgroundDeps } from "../background/deps.ts";
import type { Operators } from "../callers/tokens.ts";
import type { MediaDeps } from "../media/deps.ts";
import type { Companions } from "./companions.ts";

/** What routes pass to verbs: everything that any verb needs from the process. */
export interface HttpDeps extends BackgroundDeps, MediaDeps {
  readonly operators: Operators;
  /** What requests were checked against of late, for those to come. */
  readonly keptRows: KeptRows;
  readonly companions: Companions;
}
