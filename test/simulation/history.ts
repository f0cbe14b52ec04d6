import type { Draft } from "../../src/shared/publishing/post.ts";
import { toPost } from "../../src/shared/publishing/post-row.ts";
import type { Row } from "../../src/shared/runtime/storage/row.ts";
import type { ModelRow, Properties, TableModel } from "../model/table-model.ts";
import type { VirtualTime } from "../model/virtual-time.ts";

/** A post between two writes of what it is to be. */
export interface Version {
  readonly status: string;
  readonly revision: string;
  readonly draft: Draft;
  readonly updatedAt: string;
}

interface Purse {
  readonly at: number;
  readonly available: number;
  /** The least that the changes left which were written together, in their order. */
  readonly least: number;
}

// Safe: the product wrote them through its own table.
export const toRow = ({ rowKey, properties }: ModelRow) => ({ rowKey, ...properties }) as Row;

const isIdle = (status: string | undefined) => status === "scheduled" || status === "canceled";

/** Watches every transaction: what was stored in between, and rules that hold at every moment. */
export class History {
  readonly violations: string[] = [];
  readonly #versions = new Map<string, Version[]>();
  readonly #purses = new Map<string, Purse[]>();
  readonly #days = new Map<string, { readonly day: string; readonly spent: number }>();
  readonly #failed = new Set<string>();
  readonly #time: VirtualTime;

  constructor(model: TableModel, time: VirtualTime) {
    this.#time = time;
    model.onCommit = ({ table, partitionKey }, rows) => {
      if (table === "core") this.#see(partitionKey, rows);
    };
  }

  /** Of a post, from the first on. */
  versions(postId: string): readonly Version[] {
    return this.#versions.get(postId) ?? [];
  }

  /** Whether a leg of it failed after it had started. */
  hasFailed(postId: string): boolean {
    return this.#failed.has(postId);
  }

  /** What a platform has to spend now. */
  available(platformId: string): number {
    return this.#purses.get(platformId)?.at(-1)?.available ?? 0;
  }

  /** The least that a platform had to spend at any moment of that time. */
  leastAvailable(platformId: string, from: number, until: number): number {
    const purses = this.#purses.get(platformId) ?? [];
    const before = purses.findLast(({ at }) => at <= from)?.available ?? 0;
    const during = purses.filter(({ at }) => at > from && at <= until);
    return Math.min(before, ...during.map(({ least }) => least));
  }

  #see(platformId: string, rows: readonly ModelRow[]): void {
    for (const row of rows) {
      const [kind, , , postId = "", network] = row.rowKey.split("|");
      if (row.rowKey === "W") this.#seeWallet(platformId, row, rows);
      else if (kind === "P" && network === undefined) this.#seePost(platformId, postId, row);
    }
    for (const row of rows) {
      const [kind, , , postId = "", network] = row.rowKey.split("|");
      if (kind === "P" && network !== undefined) this.#seeLeg(postId, network, row);
    }
  }

  #seeWallet(platformId: string, { properties }: ModelRow, rows: readonly ModelRow[]): void {
    const [balance, reserved] = [Number(properties["balance"]), Number(properties["reserved"])];
    if (reserved < 0 || reserved > balance)
      this.violations.push(`a wallet had ${reserved} reserved of ${balance}`);
    const entries = rows.filter(({ rowKey }) => rowKey.startsWith("L|"));
    const left = entries.map((entry) => {
      return Number(entry.properties["balanceAfter"]) - Number(entry.properties["reservedAfter"]);
    });
    this.#seeDay(platformId, properties, entries);
    const available = balance - reserved;
    const purses = this.#purses.get(platformId) ?? [];
    purses.push({ at: this.#time.now, available, least: Math.min(available, ...left) });
    this.#purses.set(platformId, purses);
  }

  /** A day's budget begins once, and what was spent is given back by releases alone. */
  #seeDay(platformId: string, wallet: Properties, entries: readonly ModelRow[]): void {
    const [day, spent] = [String(wallet["day"]), Number(wallet["daySpent"])];
    const before = this.#days.get(platformId) ?? { day, spent: 0 };
    this.#days.set(platformId, { day, spent });
    if (day < before.day) this.violations.push(`a wallet went from ${before.day} back to ${day}`);
    const released = entries
      .filter(({ properties }) => properties["type"] === "release")
      .reduce((sum, { properties }) => sum + Math.abs(Number(properties["tokens"])), 0);
    if (day === before.day && spent < before.spent - released)
      this.violations.push(`a wallet forgot what was spent on ${day}`);
  }

  #seePost(platformId: string, postId: string, row: ModelRow): void {
    const { status, revision } = row.properties;
    const versions = this.#versions.get(postId) ?? [];
    const last = versions.at(-1);
    if (last?.status === status && last?.revision === revision) return;
    const { draft, updatedAt, requestId } = toPost(platformId, toRow(row));
    if (last !== undefined && last.status !== "scheduled" && last.revision !== revision)
      this.violations.push(`${requestId} was changed when it was ${last.status}`);
    if (last?.status === "canceled")
      this.violations.push(`${requestId} was canceled, and then ${String(status)}`);
    versions.push({ status: String(status), revision: String(revision), draft, updatedAt });
    this.#versions.set(postId, versions);
  }

  /** Nobody works on a leg that is not paid for, or whose post has not started. */
  #seeLeg(postId: string, network: string, { properties }: ModelRow): void {
    const status = this.#versions.get(postId)?.at(-1)?.status;
    if (properties["status"] === "failed" && !isIdle(status)) this.#failed.add(postId);
    if (properties["leaseUntil"] === "") return;
    if (properties["holdState"] !== "open")
      this.violations.push(`${network} of ${postId} was claimed without an open reservation`);
    if (isIdle(status)) this.violations.push(`${network} of ${postId} was claimed while ${status}`);
  }
}
