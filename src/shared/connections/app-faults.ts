import { APP_WITNESSES, subjectOf } from "../networks/contract/blame.ts";
import type { LegFailure } from "../networks/contract/outcome.ts";
import type { AccountCheck } from "../networks/contract/network.ts";
import type { Log } from "../runtime/log.ts";
import { RecentMap } from "../runtime/recent-map.ts";
import type { Connection } from "./connection.ts";

/** Refusals are about the same fault only within this time. */
const WINDOW_MS = 10 * 60_000;
/** While an app is refused, one account per this time is tried, to see whether it still is. */
const RECHECK_MS = 10 * 60_000;
/** How long an accepted account shows that the app is accepted. */
const ACCEPTED_MS = 60 * 60_000;
const DAY_MS = 24 * 60 * 60_000;
/** How many days after a missed check an account counts as not accepted. */
const MISSED_DAYS = 2;
/** Each Mastodon server has an app of its own. Visitors of connect pages name any number of them. */
const SERVERS_MAX = 1_000;
/** More answers of an app than these are not compared. */
const ANSWERS_MAX = 20;
const SUSPECTS_MAX = 100;
/** It only matters whether there is more than one. */
const PLATFORMS_MAX = 2;

/** What one app was answered since one of its accounts was last accepted. */
interface App {
  /** By the network's code: when each account was last refused, by the id of its connection. */
  readonly answers: RecentMap<Map<string, Witness>>;
  /** When each of these codes was last attributed to the app. */
  readonly faults: RecentMap<number>;
  /** Accounts that were refused in the app's name, and had not been accepted for days. */
  readonly suspects: RecentMap<Suspect>;
  /** The account that was last accepted. */
  accepted: { readonly id: string; readonly at: number } | undefined;
  /** When an account of a platform was last accepted or refused, by the platform. */
  readonly platforms: RecentMap<number>;
  /** When an exhausted limit of the app was last reported. */
  limitedAt: number | undefined;
}

/** A refused account. */
interface Witness {
  readonly platformId: string;
  readonly at: number;
}

/** Who can fix a refusal: `account` the end user, `app` the operator, `call` neither. */
type Blame = "account" | "app" | "call";

type RefusedAccount = Pick<Connection, "id" | "platformId" | "network" | "instanceUrl" | "account">;

interface Suspect {
  readonly connection: Connection;
  readonly failure: LegFailure;
  readonly at: number;
}

/**
 * Tells refusals of accounts from refusals of our app, by the rule in `networks/contract/blame.ts`. Counted per process.
 */
export class AppFaults {
  readonly #log: Log;
  readonly #clock: { now(): Date };
  /** Apart from those of servers, of which there are so many that they would push these out. */
  readonly #apps = new Map<string, App>();
  readonly #appsOfServers = new RecentMap<App>(SERVERS_MAX);

  constructor(log: Log, clock: { now(): Date }) {
    this.#log = log;
    this.#clock = clock;
  }

  /**
   * Records that an account was accepted, so the app is accepted too. Returns the accounts that the network refuses
   * alone, in the app's name: the caller marks them.
   */
  accepted(connection: RefusedAccount): readonly Suspect[] {
    const app = this.#appOf(connection);
    const now = this.#clock.now().getTime();
    const alone = [...app.suspects.values()].filter(
      ({ connection: { id }, at }) => id !== connection.id && now - at < ACCEPTED_MS,
    );
    const { limitedAt, platforms } = app;
    platforms.set(connection.platformId, now);
    this.#appsOf(connection).set(appKeyOf(connection), {
      ...emptyApp(),
      limitedAt,
      platforms,
      accepted: { id: connection.id, at: now },
    });
    return alone;
  }

  /** Records a refusal and returns its cause. `check`: what the network checks of an idle account, if anything. */
  refused(connection: Connection, failure: LegFailure, check: AccountCheck | undefined): Blame {
    const subject = subjectOf(failure);
    if (failure.isOfApp === true) this.#reportLimit(connection, failure);
    const isCounted =
      subject === "account" || subject === "app" || failure.unmappedStatus !== undefined;
    if (!isCounted) return "call";
    const app = this.#appOf(connection);
    const now = this.#clock.now().getTime();
    const code = failure.networkCode ?? failure.code;
    const { platformId } = connection;
    app.platforms.set(platformId, now);
    const accounts = app.answers.get(code) ?? new Map<string, Witness>();
    app.answers.set(code, accounts);
    for (const [id, { at }] of accounts) if (now - at > WINDOW_MS) accounts.delete(id);
    // As many are enough, so that a long outage takes no more memory. One of another platform is always of use.
    const isNew = ![...accounts.values()].some((known) => known.platformId === platformId);
    if (accounts.size < APP_WITNESSES.other || accounts.has(connection.id) || isNew) {
      accounts.set(connection.id, { platformId, at: now });
      const [oldest] = accounts.keys();
      if (accounts.size > APP_WITNESSES.other && oldest !== undefined) accounts.delete(oldest);
    }
    const isKnown = app.faults.has(code);
    const witnesses = APP_WITNESSES[subject === "app" ? "app" : "other"];
    const areEnough = accounts.size >= witnesses && this.#areOfSeveral(app, accounts);
    if (isKnown || areEnough) {
      app.faults.set(code, now);
      if (!isKnown) this.#report(connection, failure, accounts.size);
      return "app";
    }
    if (subject !== "app") return subject === "account" ? "account" : "call";
    const { id, network, instanceUrl } = connection;
    const fields = { connection: id, network, instanceUrl, networkCode: failure.networkCode };
    this.#log.warn("a network refuses an account in the app's name", fields);
    return now >= missedAt(connection, check) && this.#isAlone(app, connection, failure)
      ? "account"
      : "call";
  }

  /** Reports whether accounts of this app need not be tried now, because the app is refused. */
  areRefused(connection: RefusedAccount): boolean {
    const faults = this.#appsOf(connection).get(appKeyOf(connection))?.faults.values() ?? [];
    const now = this.#clock.now().getTime();
    return [...faults].some((at) => now - at < RECHECK_MS);
  }

  /**
   * Reports whether an account is refused in the app's name although the app is accepted: for days no call of this
   * account was accepted, and one of another account just was. Until then, the account is remembered as a suspect.
   */
  #isAlone(app: App, connection: Connection, failure: LegFailure): boolean {
    const now = this.#clock.now().getTime();
    const { accepted } = app;
    const isOther = accepted !== undefined && accepted.id !== connection.id;
    if (isOther && now - accepted.at < ACCEPTED_MS) return true;
    app.suspects.set(connection.id, { connection, failure, at: now });
    return false;
  }

  /**
   * Reports whether the accounts are of several platforms, if several use the app. One customer alone, who may have any
   * number of accounts, says nothing about an app that others use.
   */
  #areOfSeveral({ platforms }: App, accounts: ReadonlyMap<string, Witness>): boolean {
    const now = this.#clock.now().getTime();
    const users = [...platforms.values()].filter((at) => now - at < ACCEPTED_MS);
    const witnesses = new Set([...accounts.values()].map(({ platformId }) => platformId));
    return users.length < 2 || witnesses.size > 1;
  }

  #appsOf({
    instanceUrl,
  }: RefusedAccount): Pick<Map<string, App>, "get"> & { set(k: string, a: App): unknown } {
    return instanceUrl === null ? this.#apps : this.#appsOfServers;
  }

  #appOf(connection: RefusedAccount): App {
    const apps = this.#appsOf(connection);
    const known = apps.get(appKeyOf(connection)) ?? emptyApp();
    apps.set(appKeyOf(connection), known);
    return known;
  }

  #report(
    { network, instanceUrl }: RefusedAccount,
    { networkCode }: LegFailure,
    accounts: number,
  ): void {
    const fields = { network, instanceUrl, networkCode, accounts };
    this.#log.error("a network refuses the app", fields);
  }

  /** Tells operators of a limit that all accounts of the app share, once a day. */
  #reportLimit(connection: RefusedAccount, { networkCode, note }: LegFailure): void {
    const app = this.#appOf(connection);
    const now = this.#clock.now().getTime();
    if (app.limitedAt !== undefined && now - app.limitedAt < DAY_MS) return;
    app.limitedAt = now;
    const { network, instanceUrl } = connection;
    const fields = { network, instanceUrl, networkCode, note, isLimit: true };
    this.#log.error("a network refuses the app", fields);
  }
}

function emptyApp(): App {
  return {
    answers: new RecentMap(ANSWERS_MAX),
    faults: new RecentMap(ANSWERS_MAX),
    suspects: new RecentMap(SUSPECTS_MAX),
    accepted: undefined,
    platforms: new RecentMap(PLATFORMS_MAX),
    limitedAt: undefined,
  };
}

/** Returns by when an account in good order would have been accepted again; never at a network without a check. */
function missedAt({ lastUsedAt, checkedAt }: Connection, check: AccountCheck | undefined): number {
  const isChecked = check?.probe !== undefined || check?.readLimits !== undefined;
  if (!isChecked) return Number.POSITIVE_INFINITY;
  const known = [lastUsedAt, checkedAt].filter((at) => at !== null).map((at) => Date.parse(at));
  return Math.max(...known) + (check.idleDaysMax + MISSED_DAYS) * DAY_MS;
}

/** Names the app of an account. A network may have one for each kind of account, and each server has its own. */
function appKeyOf({ network, instanceUrl, account }: RefusedAccount): string {
  return `${network} ${account.kind} ${instanceUrl ?? ""}`;
}
