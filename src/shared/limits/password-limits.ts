import {
  addressGroup,
  addressNetwork,
  addressSite,
  SITE_FACTOR,
} from "../callers/caller-address.ts";
import { invalidLogin } from "../callers/credential.ts";
import type { AppError, FailedCheck } from "../runtime/errors.ts";
import { sha256Hex } from "../runtime/secrets.ts";
import {
  afterFailure,
  blockedSeconds,
  codeBlockedSeconds,
  failureGroup,
  wrongCodesIn,
  type FailureKind,
  type LoginHistory,
  type LoginHistoryStore,
  type OwnSubject,
  type LoginSubject,
  type TryFrom,
} from "./login-history-store.ts";
import { rateLimited, type RateLimiter } from "./rate-limiter.ts";
import type { RateWindowStore } from "./rate-window-store.ts";

export interface Trier {
  readonly email: string;
  readonly ip: string;
  /** A known device of the user, or their live session. What fails there counts there alone. */
  readonly own?: OwnSubject | undefined;
}

type SecretKind = "password" | "code";

interface DayDeps {
  readonly windows: RateWindowStore;
  readonly now: () => number;
}

interface SignUpDeps extends DayDeps {
  readonly signUpsPerDay: number;
}

const HOUR_MS = 3600 * 1000;
const DAY_MS = 24 * HOUR_MS;

interface AttemptDeps {
  readonly logins: LoginHistoryStore;
  /** Maximum failures of a caller's network, or of a device, within 15 minutes. */
  readonly loginAttempts: number;
  readonly now: () => number;
}

/** An attempt to log in with a password or a code. */
class Attempt {
  readonly #deps: AttemptDeps;
  readonly #email: LoginSubject;
  /** The history in which failures count: that of a known device or session, otherwise that of the email. */
  readonly #own: LoginSubject;
  readonly #from: TryFrom;
  #emailHistory: LoginHistory | undefined;
  /** How many resets the user whose code is tried has had. */
  #resets = 0;

  constructor(deps: AttemptDeps, { email, ip, own }: Trier) {
    this.#deps = deps;
    this.#email = { kind: "email", email };
    this.#own = own ?? this.#email;
    const group = failureGroup(email, own?.id ?? addressNetwork(ip));
    this.#from = { group, attemptsMax: deps.loginAttempts };
  }

  get #countsApart(): boolean {
    return this.#own !== this.#email;
  }

  /** Refuses the attempt when there were too many failures. @throws AppError `rate_limited` */
  #require(history: LoginHistory): void {
    const seconds = blockedSeconds(history, this.#from, this.#deps.now());
    if (seconds > 0) throw tooManyFailures(seconds);
  }

  /** Returns how many codes were wrong within the hour, as far as this attempt has read or counted them. */
  wrongCodes(): number {
    return wrongCodesIn(this.#emailHistory ?? [], this.#resets, this.#deps.now());
  }

  #requireCodes(history: LoginHistory): void {
    const seconds = codeBlockedSeconds(history, this.#resets, this.#deps.now());
    if (seconds > 0) throw tooManyFailures(seconds);
  }

  async begin(): Promise<void> {
    const history = await this.#deps.logins.find(this.#own);
    if (!this.#countsApart) this.#emailHistory = history;
    this.#require(history);
  }

  /**
   * Checks whether a code of the second factor may be tried. These are limited for all callers together. Otherwise
   * anybody who knows the password could find the code, one of a million. Wrong codes count until the user's next reset,
   * which takes the mailbox: otherwise a thief could keep the owner out with codes sent just before.
   * @throws AppError `rate_limited`
   */
  async admitCode({ resets }: { readonly resets: number }): Promise<void> {
    this.#resets = resets;
    this.#emailHistory ??= await this.#deps.logins.find(this.#email);
    this.#requireCodes(this.#emailHistory);
  }

  /** Counts the failure. Returns the error to throw, which doesn't tell the caller what was wrong. */
  async failed(what: SecretKind = "password", failedCheck?: FailedCheck): Promise<AppError> {
    const seconds = await this.#count(this.#own, what);
    const isCodeApart = what === "code" && this.#countsApart;
    const forCodes = isCodeApart ? await this.#count(this.#email, "own_code") : 0;
    const longest = Math.max(seconds, forCodes);
    return longest > 0 ? tooManyFailures(longest) : invalidLogin(failedCheck);
  }

  /** Counts a failure. If others have reached the limit meanwhile, returns the seconds to wait instead. */
  async #count(subject: LoginSubject, kind: FailureKind): Promise<number> {
    const { logins, now } = this.#deps;
    let seconds = 0;
    await logins.change(subject, (history) => {
      const at = now();
      seconds = Math.max(
        kind === "own_code" ? 0 : blockedSeconds(history, this.#from, at),
        kind === "password" ? 0 : codeBlockedSeconds(history, this.#resets, at),
      );
      const { group } = this.#from;
      const resets = kind === "password" ? 0 : this.#resets;
      const counted = seconds > 0 ? history : afterFailure(history, { kind, group, at, resets });
      if (subject === this.#email) this.#emailHistory = counted;
      return seconds > 0 ? undefined : counted;
    });
    return seconds;
  }

  /**
   * Accepts a proof that is right but less than a whole login. Earlier failures stay.
   * @throws AppError as `succeeded`
   */
  async passed(): Promise<void> {
    this.#require(await this.#deps.logins.find(this.#own));
  }

  /** Forgets this caller's earlier failures. @throws AppError `rate_limited` when concurrent tries reached the limit */
  async succeeded(what: SecretKind = "password"): Promise<void> {
    const { logins } = this.#deps;
    const withoutOwn = (history: LoginHistory) => {
      const left = history.filter(({ group }) => group !== this.#from.group);
      return left.length < history.length ? left : undefined;
    };
    await logins.change(this.#own, (history) => {
      this.#require(history);
      if (what === "code" && !this.#countsApart) this.#requireCodes(history);
      return withoutOwn(history);
    });
    if (what === "password" || !this.#countsApart) return;
    await logins.change(this.#email, (history) => {
      this.#requireCodes(history);
      return withoutOwn(history);
    });
  }
}

export type LoginAttempt = Pick<
  Attempt,
  "failed" | "admitCode" | "wrongCodes" | "passed" | "succeeded"
>;

const tooManyFailures = (retryAfter: number) =>
  rateLimited(
    retryAfter,
    `Too many passwords or codes were wrong. Try again in ${retryAfter} s, or set a new password with a reset link.`,
  );

/**
 * Begins a try of a password, TOTP code or recovery code, for a known or an unknown email. Concurrent tries gain
 * nothing: once the limit is reached, none of them learns its outcome. Tries from elsewhere block neither a device that
 * the user has logged in from before nor a live session.
 * @throws AppError `rate_limited`
 */
export async function beginLoginAttempt(deps: AttemptDeps, trier: Trier): Promise<LoginAttempt> {
  const attempt = new Attempt(deps, trier);
  await attempt.begin();
  return attempt;
}

/**
 * Forgets what failed for an email, because its mailbox was proved. Wrong codes are also tied to the user's resets, so
 * that those which are still being checked don't count either.
 */
export async function forgetFailures(logins: LoginHistoryStore, email: string): Promise<void> {
  await logins.change({ kind: "email", email }, (history) => (history.length > 0 ? [] : undefined));
}

/** Counts one of something that is limited per UTC day. @throws AppError `rate_limited` */
async function admitOfDay(
  { windows, now }: DayDeps,
  subject: string,
  { max, what }: { readonly max: number; readonly what: string },
): Promise<void> {
  const at = now();
  if (await windows.countOfDay(subject, at, max)) return;
  const seconds = Math.ceil((DAY_MS - (at % DAY_MS)) / 1000);
  throw rateLimited(seconds, `Too many ${what} today. Try again in ${seconds} s.`);
}

/**
 * Counts a sign-up from an address, and from the site of an IPv6 address, whether or not it succeeds.
 * @throws AppError `rate_limited` when the day's limit is reached
 */
export async function admitSignUp(
  { signUpsPerDay: max, ...deps }: SignUpDeps,
  ip: string,
): Promise<void> {
  const site = addressSite(ip);
  const what = "sign-ups from this address";
  await admitOfDay(deps, `signups|${sha256Hex(addressGroup(ip))}`, { max, what });
  if (site !== undefined)
    await admitOfDay(deps, `signups|${sha256Hex(site)}`, { max: SITE_FACTOR * max, what });
}

const INVITATIONS_PER_DAY = 50;

/** Counts an invitation of a platform, or a new link for one. @throws AppError `rate_limited` */
export function admitInvitation(deps: DayDeps, platformId: string) {
  const what = "invitations of this platform";
  return admitOfDay(deps, `invitations|${platformId}`, { max: INVITATIONS_PER_DAY, what });
}

const EMAIL_CHANGES_PER_DAY = 50;

/** Counts a mail that asks somebody to confirm a user's new address. @throws AppError `rate_limited` */
export function admitEmailChange(deps: DayDeps, platformId: string) {
  const what = "changes of email addresses of this platform";
  return admitOfDay(deps, `email changes|${platformId}`, { max: EMAIL_CHANGES_PER_DAY, what });
}

/** Mails to owners per hour that a platform may cause by what it can do any number of times. */
const NOTICES_PER_HOUR = 500;

/**
 * Counts the mails that a change will send to a platform's owners, before it is made. None of these mails is ever held
 * back, so what causes them has a limit: all customers share the mail server.
 * @throws AppError `rate_limited`
 */
export async function admitNotices(
  { windows, now }: DayDeps,
  platformId: string,
  mails: number,
): Promise<void> {
  const at = now();
  const subject = `notices|${platformId}|${Math.floor(at / HOUR_MS)}`;
  if (await windows.countOfDay(subject, at, NOTICES_PER_HOUR, mails)) return;
  const seconds = Math.ceil((HOUR_MS - (at % HOUR_MS)) / 1000);
  throw rateLimited(
    seconds,
    `Too many changes of which owners are notified. Try again in ${seconds} s.`,
  );
}

/** New passwords per minute. Hashing one takes a core for a third of a second, and all customers share the cores. */
const PER_MINUTE = { platform: 30, user: 10 } as const;

/** Counts a password that is about to be hashed for a logged-in user. @throws AppError `rate_limited` */
export async function admitPasswords(
  rates: RateLimiter,
  { kind, id }: { readonly kind: keyof typeof PER_MINUTE; readonly id: string },
): Promise<void> {
  const { allowed, seconds } = await rates.admit(`passwords|${id}`, PER_MINUTE[kind]);
  if (!allowed) throw rateLimited(seconds);
}
