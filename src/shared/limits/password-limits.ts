import { invalidCredentials } from "../callers/credential.ts";
import type { AppError, FailedCheck } from "../runtime/errors.ts";
import { afterFailure, blockedSeconds, type LoginHistoryStore } from "./login-history-store.ts";
import { rateLimited, type RateLimiter } from "./rate-limiter.ts";

/** An attempt to sign in with a password or a code. */
export interface LoginAttempt {
  /** Counts the failure. Returns the error to throw, whose answer does not say what was wrong. */
  failed(failedCheck?: FailedCheck): Promise<AppError>;
  /**
   * Accepts what is right but proves less than a whole log-in: earlier failures stay.
   * @throws AppError as `succeeded`
   */
  passed(): Promise<void>;
  /** Forgets earlier failures. @throws AppError `rate_limited` when concurrent tries reached the limit */
  succeeded(): Promise<void>;
}

interface AttemptDeps {
  readonly logins: LoginHistoryStore;
  /** Failures in a row until the first block. */
  readonly loginAttempts: number;
  readonly now: () => number;
}

/**
 * Begins a try of a password, TOTP code or recovery code, whether the e-mail is known or not. Concurrent tries gain
 * nothing: once the limit is reached, none of them learns its outcome.
 * @throws AppError `rate_limited`
 */
export async function beginLoginAttempt(
  { logins, loginAttempts, now }: AttemptDeps,
  email: string,
): Promise<LoginAttempt> {
  const openHistory = async () => {
    const history = await logins.find(email);
    const seconds = blockedSeconds(history, now());
    if (seconds > 0) throw rateLimited(seconds);
    return history;
  };
  await openHistory();
  return {
    async failed(failedCheck) {
      let seconds = 0;
      await logins.change(email, (history) => {
        const at = now();
        seconds = blockedSeconds(history, at);
        return seconds > 0 ? undefined : afterFailure(history, loginAttempts, at);
      });
      return seconds > 0 ? rateLimited(seconds) : invalidCredentials(failedCheck);
    },
    async passed() {
      await openHistory();
    },
    async succeeded() {
      const history = await openHistory();
      if (history.failedAt.length > 0) await logins.clear(email);
    },
  };
}

/** New passwords per minute. Each takes a core for a third of a second, which all customers share. */
const PER_MINUTE = { platform: 30, user: 10 } as const;

/** Counts a password that is about to be hashed for a signed-in user. @throws AppError `rate_limited` */
export async function admitPasswords(
  rates: RateLimiter,
  { kind, id }: { readonly kind: keyof typeof PER_MINUTE; readonly id: string },
): Promise<void> {
  const { allowed, seconds } = await rates.admit(`passwords|${id}`, PER_MINUTE[kind]);
  if (!allowed) throw rateLimited(seconds);
}
