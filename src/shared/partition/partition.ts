/* The part of this module that other folders use: the transactions that change a platform's partition. */

import type { AccessCheck } from "../callers/access-check.ts";
import { AppError } from "../runtime/errors.ts";
import { RecentMap } from "../runtime/recent-map.ts";
import { undefinedIfDamaged } from "../runtime/storage/damaged-row.ts";
import type { Table } from "../runtime/storage/table.ts";
import { checkedCommit, raiseOperation } from "./access-version.ts";
import { GroupCommit, TAKEN_KEYS_MAX } from "./group-commit.ts";
import type { PartitionOperation } from "./operation.ts";
import { Partition, type PartitionHooks, type PartitionParts } from "./partition-store.ts";

export {
  accessOperation,
  isDecidedAgain,
  OutdatedAccess,
  requireSameVersion,
} from "./access-version.ts";
export {
  countsKey,
  countsWrite,
  countWrite,
  readCounts,
  summed,
  toCounts,
  type ApplicationCounts,
} from "./application-counts.ts";
export { HEAD_KEY, isHeadRow } from "./head-row.ts";
export type { Head, PartitionDecision, PartitionOperation, PartitionView } from "./operation.ts";

/** Beyond this many, committers of idle platforms are dropped. */
const COMMITTERS_MAX = 10_000;

/** Returns the second check of the request under way on a platform; undefined when there is none to make. */
type OpenCheck = (platformId: string) => AccessCheck | undefined;

/** What a process does with transactions and refusals, in addition to writing and returning them. */
export interface CommitHooks extends PartitionHooks {
  /** Follows a refusal, before the caller gets it. `commit` commits without the check of the caller's access. */
  onRefused(platformId: string, error: AppError, commit: Commit): Promise<void>;
}

/**
 * The partitions of all platforms (table `core`). What a platform has of users, keys, profiles, accounts, posts and
 * tokens is in one partition, and each change of it is an operation that is committed here.
 */
export class Partitions {
  readonly #parts: PartitionParts & { readonly hooks: CommitHooks };
  readonly #openCheckOf: OpenCheck;
  readonly #committers = new Map<string, GroupCommit>();
  readonly #takenKeys = new RecentMap<true>(TAKEN_KEYS_MAX);

  constructor(core: Table, now: () => Date, openCheckOf: OpenCheck, hooks: CommitHooks) {
    this.#parts = { core, now, hooks, versions: new RecentMap<string>(COMMITTERS_MAX) };
    this.#openCheckOf = openCheckOf;
  }

  /**
   * Applies a change of the platform's partition exactly once, together with other changes under way. The change of a
   * request that writes is refused if the caller's access was taken away since it was checked; that of accepting a post
   * compares the access version itself, and gets no check here.
   */
  async commit<Answer>(platformId: string, operation: PartitionOperation<Answer>): Promise<Answer> {
    const submit: Commit = (id, one) => this.#committerOf(id).submit(one);
    try {
      const check = this.#openCheckOf(platformId);
      if (check === undefined) return await this.#committerOf(platformId).submit(operation);
      return await checkedCommit(check, operation, (one) => submit(platformId, one));
    } catch (error) {
      if (error instanceof AppError) await this.#parts.hooks.onRefused(platformId, error, submit);
      throw error;
    }
  }

  /**
   * Raises the access version of a platform, even of one that has none. Returns the new one, or "", which matches
   * nothing, when the head is damaged or a later build has written it.
   */
  async raiseAccess(platformId: string): Promise<string> {
    const raised = this.#committerOf(platformId).submit(raiseOperation());
    return (await undefinedIfDamaged(raised)) ?? "";
  }

  /** Returns the access version that this process has read last, if any. It may have been raised since. */
  lastAccessVersion(platformId: string): string | undefined {
    return this.#parts.versions.get(platformId);
  }

  /** Reads the stored access version. It is "", which matches nothing, when there is none or the head is damaged. */
  async readAccessVersion(platformId: string): Promise<string> {
    const version = new Partition(platformId, this.#parts).readAccessVersion();
    return (await undefinedIfDamaged(version)) ?? "";
  }

  #committerOf(platformId: string): GroupCommit {
    let committer = this.#committers.get(platformId);
    if (committer === undefined) {
      if (this.#committers.size >= COMMITTERS_MAX)
        for (const [id, { idle }] of this.#committers) if (idle) this.#committers.delete(id);
      committer = new GroupCommit(new Partition(platformId, this.#parts), this.#takenKeys);
      this.#committers.set(platformId, committer);
    }
    return committer;
  }
}

export type Commit = Partitions["commit"];
