import { invalidCredentials } from "../callers/credential.ts";
import type { AppError } from "../runtime/errors.ts";
import type { LimitsDeps } from "./deps.ts";
import { afterFailure, blockedSeconds } from "./login-history-store.ts";
import { rateLimited } from "./rate-limiter.ts";

/** A try to prove who one is by a password or a code. */
export interface LoginAttempt {
  /** Counts the failure. Returns the error to throw, which says nothing about what was wrong. */
  failed(): Promise<AppError>;
  /** What was tried is right, but proves less than a whole log-in: earlier failures stay. @throws AppError as `succeeded` */
  passed(): Promise<void>;
  /** Forgets earlier failures. @throws AppError `rate_limited` when tries at the same time used up what was left */
  succeeded(): Promise<void>;
}

/**
 * Begins a try of a password, TOTP code or recovery code, which all are tried within one of these, whether the e-mail is known or not. Tries
 * that run side by side gain nothing: once the limit is reached, the outcome of those under way is not given.
 * @throws AppError `rate_limited`
 */
export async function beginLoginAttempt(
  services: LimitsDeps,
  email: string,
): Promise<LoginAttempt> {
  const { clock, config, limits } = services;
  const now = () => clock.now().getTime();
  const openHistory = async () => {
    const history = await limits.logins.find(email);
    const seconds = blockedSeconds(history, now());
    if (seconds > 0) throw rateLimited(seconds);
    return history;
  };
  await openHistory();
  return {
    async failed() {
      let seconds = 0;
      await limits.logins.change(email, (history) => {
        const at = now();
        seconds = blockedSeconds(history, at);
        return seconds > 0 ? undefined : afterFailure(history, config.limits.loginAttempts, at);
      });
      return seconds > 0 ? rateLimited(seconds) : invalidCredentials();
    },
    async passed() {
      await openHistory();
    },
    async succeeded() {
      const history = await openHistory();
      if (history.failedAt.length > 0) await limits.logins.clear(email);
    },
  };
}

/** A minute's new passwords. Each takes a core for a third of a second, which all customers share. */
const PER_MINUTE = { platform: 30, user: 10 } as const;

/** Counts a password that is about to be hashed for somebody who is signed in. @throws AppError `rate_limited` */
export async function admitPasswords(
  { limits }: LimitsDeps,
  { kind, id }: { readonly kind: keyof typeof PER_MINUTE; readonly id: string },
): Promise<void> {
  const { allowed, seconds } = await limits.rates.admit(`passwords|${id}`, PER_MINUTE[kind]);
  if (!allowed) throw rateLimited(seconds);
}
