import type { LegErrorCode } from "../networks/contract/errors.ts";
import type { LegFailure } from "../networks/contract/outcome.ts";
import type { Log } from "../runtime/log.ts";
import { RecentMap } from "../runtime/recent-map.ts";
import type { Connection } from "./connection.ts";

/** Refusals that are about the account and end only when the end user links it again. */
export const BROKEN: ReadonlySet<LegErrorCode> = new Set<LegErrorCode>([
  "connection_needs_reauth",
  "permission_missing",
  "account_restricted",
]);

/** If this many accounts get the same refusal, with none accepted in between, it is no coincidence. */
const ACCOUNTS_MIN = 5;
const WINDOW_MS = 10 * 60_000;
/** While an app is refused, one account per this time is tried, to see whether it still is. */
const RECHECK_MS = 10 * 60_000;
/** Each Mastodon server has an app of its own. */
const APPS_MAX = 1_000;

interface Refusals {
  readonly networkCode: string | null;
  /** When each account was last refused, by the id of its connection. */
  readonly accounts: Map<string, number>;
  /** When the refusals were last attributed to the app. Undefined while they count as the accounts' own. */
  seenAt: number | undefined;
}

/** Who can fix a refusal: `account` the end user, `app` the operator, `content` neither. */
type Blame = "account" | "app" | "content";

type Refused = Pick<Connection, "id" | "network" | "instanceUrl">;

/**
 * Tells refusals of accounts from refusals of our app. When a network gives many accounts the same answer within
 * minutes, the app is the cause, whatever the answer says: customers can't fix it, and must not be asked to link their
 * accounts again. Counted per process.
 */
export class AppFaults {
  readonly #log: Log;
  readonly #clock: { now(): Date };
  readonly #apps = new RecentMap<Refusals>(APPS_MAX);

  constructor(log: Log, clock: { now(): Date }) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Records that an account was accepted, so the app is accepted too. */
  accepted(connection: Refused): void {
    this.#apps.delete(appOf(connection));
  }

  /** Records a refusal and returns its cause. */
  refused(connection: Refused, { code, networkCode, unmappedStatus }: LegFailure): Blame {
    const isOfApp = code === "app_misconfigured";
    if (!isOfApp && !BROKEN.has(code) && unmappedStatus === undefined) return "content";
    const refusals = this.#refusalsOf(connection, networkCode);
    const now = this.#clock.now().getTime();
    for (const [id, at] of refusals.accounts)
      if (now - at > WINDOW_MS) refusals.accounts.delete(id);
    refusals.accounts.set(connection.id, now);
    const isKnown = refusals.seenAt !== undefined;
    if (isOfApp || isKnown || refusals.accounts.size >= ACCOUNTS_MIN) {
      refusals.seenAt = now;
      if (!isKnown) this.#report(connection, networkCode, refusals.accounts.size);
      return "app";
    }
    return BROKEN.has(code) ? "account" : "content";
  }

  /** Reports whether accounts of this app need not be tried now, because the app is refused. */
  areRefused(connection: Refused): boolean {
    const seenAt = this.#apps.get(appOf(connection))?.seenAt;
    return seenAt !== undefined && this.#clock.now().getTime() - seenAt < RECHECK_MS;
  }

  #refusalsOf(connection: Refused, networkCode: string | null): Refusals {
    const app = appOf(connection);
    const known = this.#apps.get(app);
    if (known?.networkCode === networkCode) return known;
    const fresh = { networkCode, accounts: new Map<string, number>(), seenAt: known?.seenAt };
    this.#apps.set(app, fresh);
    return fresh;
  }

  #report({ network, instanceUrl }: Refused, networkCode: string | null, accounts: number): void {
    const fields = { network, instanceUrl, networkCode, accounts };
    this.#log.error("a network refuses the app", fields);
  }
}

function appOf({ network, instanceUrl }: Refused): string {
  return `${network} ${instanceUrl ?? ""}`;
}
