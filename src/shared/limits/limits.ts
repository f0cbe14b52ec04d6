import type { Config } from "../config/config.ts";
import type { Log } from "../runtime/log.ts";
import type { Clock } from "../runtime/process.ts";
import type { Table } from "../runtime/storage/table.ts";
import { BadCredentials } from "./bad-credentials.ts";
import { LoginHistoryStore } from "./login-history-store.ts";
import {
  admitEmailChange,
  admitInvitation,
  admitNotices,
  admitPasswords,
  admitSignUp,
  beginLoginAttempt,
  forgetFailures,
  type Trier,
} from "./password-limits.ts";
import { RateLimiter } from "./rate-limiter.ts";
import { RateWindowStore } from "./rate-window-store.ts";

export { type Asker, COSTLY_WORK, CostlyWork, knownUser, strangerFrom } from "./costly-work.ts";
export type { LoginAttempt } from "./password-limits.ts";
export { rateLimited } from "./rate-limiter.ts";
export type { Admission } from "./shared-window.ts";
export { WaitingRequests } from "./waiting-requests.ts";
export { WorkShares } from "./work-shares.ts";

/** The limit of wrong credentials is higher than that of sign-ins, which cost more. */
const BAD_CREDENTIALS_PER_AUTH = 2;
const BAD_CREDENTIALS_MIN = 60;

interface LimitsDeps {
  readonly config: Config["limits"];
  readonly clock: Clock;
  readonly log: Log;
  readonly table: Table;
}

/** Creates the limits of requests, wrong credentials and logins of a deployment. All share one table. */
export function createLimits({ config, clock, log, table }: LimitsDeps) {
  const now = () => clock.now().getTime();
  const windows = new RateWindowStore(table);
  const logins = new LoginHistoryStore(table);
  const rates = new RateLimiter({ rows: windows, now, log });
  const badMax = Math.max(BAD_CREDENTIALS_MIN, BAD_CREDENTIALS_PER_AUTH * config.authPerMinute);
  const { loginAttempts, signUpsPerDay } = config;
  return {
    rates,
    badCredentials: new BadCredentials(badMax),
    beginLoginAttempt: (trier: Trier) => beginLoginAttempt({ logins, loginAttempts, now }, trier),
    forgetFailures: (email: string) => forgetFailures(logins, email),
    admitSignUp: (ip: string) => admitSignUp({ windows, signUpsPerDay, now }, ip),
    admitInvitation: (platformId: string) => admitInvitation({ windows, now }, platformId),
    admitEmailChange: (platformId: string) => admitEmailChange({ windows, now }, platformId),
    admitNotices: (platformId: string, mails: number) =>
      admitNotices({ windows, now }, platformId, mails),
    admitPasswords: (owner: Parameters<typeof admitPasswords>[1]) => admitPasswords(rates, owner),
    purge: {
      windows: (after: string | undefined) => windows.removeOld(clock.now(), after),
      logins: (after: string | undefined) => logins.removeForgotten(clock.now(), after),
    },
  };
}

export type Limits = ReturnType<typeof createLimits>;
