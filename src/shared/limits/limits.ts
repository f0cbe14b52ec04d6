import type { Config } from "../runtime/config.ts";
import type { Log } from "../runtime/log.ts";
import { BadCredentials } from "./bad-credentials.ts";
import type { LoginHistoryStore } from "./login-history-store.ts";
import { RateLimiter } from "./rate-limiter.ts";
import type { RateWindowStore } from "./rate-window-store.ts";

/** Who tries credentials is stopped later than who tries to sign in, which costs more. */
const BAD_CREDENTIALS_PER_AUTH = 2;
const BAD_CREDENTIALS_MIN = 60;

/** Everything that says no because of too much. */
export interface Limits {
  readonly rates: RateLimiter;
  readonly badCredentials: BadCredentials;
  readonly logins: LoginHistoryStore;
  readonly windows: RateWindowStore;
}

export function createLimits(options: {
  readonly config: Config["limits"];
  readonly now: () => Date;
  readonly log: Log;
  readonly windows: RateWindowStore;
  readonly logins: LoginHistoryStore;
}): Limits {
  const { config, log, windows, logins } = options;
  const now = () => options.now().getTime();
  const badMax = Math.max(BAD_CREDENTIALS_MIN, BAD_CREDENTIALS_PER_AUTH * config.authPerMinute);
  return {
    rates: new RateLimiter({ rows: windows, now, log }),
    badCredentials: new BadCredentials(badMax),
    logins,
    windows,
  };
}
