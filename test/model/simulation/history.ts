import { available } from "../../../src/shared/ledger/wallet.ts";
import type { Wallet } from "../../../src/shared/ledger/ledger.ts";
import type { StoredEntry } from "../../../src/shared/ledger/wallet-row.ts";
import { legStatusOf } from "../../../src/shared/publishing/leg.ts";
import type { TableModel } from "../table-model.ts";
import type { VirtualTime } from "../virtual-time.ts";
import { commentText } from "./comments.ts";
import type { Observer } from "./observer.ts";

/** Reading all posts after every change would take too long. */
const LISTS_EVERY = 20;

/** A wallet as it was read after a change of its platform. */
interface Moment {
  readonly at: number;
  readonly wallet: Wallet;
}

/**
 * Reads the wallet after every change of a platform: what there was to spend at any time, and rules of each moment. Reads
 * the lists of posts after some changes, and the leg at each first comment.
 */
export class History {
  readonly violations: string[] = [];
  /** First comments that were written while their leg had not succeeded. */
  readonly earlyComments = new Set<string>();
  readonly #moments = new Map<string, Moment[]>();
  #commits = 0;
  readonly #observer: Observer;

  constructor(model: TableModel, time: VirtualTime, observer: Observer) {
    this.#observer = observer;
    model.onCommit = ({ partitionKey }) => {
      const platformId = observer.platformIds.find((id) => partitionKey.includes(id));
      if (platformId === undefined) return;
      this.#commits += 1;
      void this.#look(platformId, time.now);
      if (this.#commits % LISTS_EVERY === 0) void this.#readLists(platformId);
    };
  }

  async #look(platformId: string, at: number): Promise<void> {
    const wallet = await this.#observer.services.ledger.stores.ledger.readWallet(platformId);
    const { balance, reserved, day } = wallet;
    const moments = this.#moments.get(platformId) ?? [];
    const before = moments.at(-1)?.wallet;
    if (reserved < 0 || reserved > balance)
      this.violations.push(`a wallet had ${reserved} reserved of ${balance}`);
    if (before !== undefined && day < before.day)
      this.violations.push(`a wallet went from ${before.day} back to ${day}`);
    moments.push({ at, wallet });
    this.#moments.set(platformId, moments);
  }

  /** Compares lists and posts as they are after a change, if no other change comes in between. */
  async #readLists(platformId: string): Promise<void> {
    const commits = this.#commits;
    const isOld = () => this.#commits !== commits;
    this.violations.push(...(await this.#observer.wrongLists(platformId, isOld)));
  }

  /** Takes down whether a first comment with this text comes before its leg has ended. */
  async noteComment(text: string): Promise<void> {
    const isEarly = (await this.#observer.posts()).some(({ post, legs }) =>
      legs.some(
        (leg) =>
          legStatusOf(leg) !== "succeeded" && commentText(post.requestId, leg.network) === text,
      ),
    );
    if (isEarly) this.earlyComments.add(text);
  }

  /** Returns what a platform has to spend now. */
  available(platformId: string): number {
    const last = this.#moments.get(platformId)?.at(-1);
    return last === undefined ? 0 : available(last.wallet);
  }

  /** Returns the least that a platform had to spend at any moment of that time, also between changes written together. */
  leastAvailable(
    platformId: string,
    ledger: readonly StoredEntry[],
    [from, until]: readonly [from: number, until: number],
  ): number {
    const moments = this.#moments.get(platformId) ?? [];
    const before = moments.findLast(({ at }) => at <= from)?.wallet;
    const last = moments.findLast(({ at }) => at <= until)?.wallet;
    const during = ledger.filter(
      ({ sequence }) => sequence > (before?.sequence ?? 0) && sequence <= (last?.sequence ?? 0),
    );
    const left = during.map(({ balanceAfter, reservedAfter }) => balanceAfter - reservedAfter);
    return Math.min(before === undefined ? 0 : available(before), ...left);
  }

  /** Returns the days of whose budget a wallet forgot what was spent: only releases give it back. */
  forgottenDays(platformId: string, ledger: readonly StoredEntry[]): string[] {
    const moments = this.#moments.get(platformId) ?? [];
    return moments.flatMap(({ wallet: { day, daySpent, sequence } }, index) => {
      const before = moments[index - 1]?.wallet;
      if (before?.day !== day) return [];
      const released = ledger
        .filter((entry) => entry.sequence > before.sequence && entry.sequence <= sequence)
        .filter(({ type }) => type === "release")
        .reduce((sum, { tokens }) => sum + Math.abs(tokens), 0);
      return daySpent < before.daySpent - released ? [day] : [];
    });
  }
}
