import type { Clock } from "../runtime/process.ts";
import type { Config } from "../config/config.ts";
import type { RequestLimits } from "./rate-limiter.ts";

export interface LimitsDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly limits: RequestLimits;
}
