import type { PartitionOperation } from "../../src/shared/partition/partition.ts";
import { GroupCommit } from "../../src/shared/partition/group-commit.ts";
import type { NetworkName } from "../../src/shared/networks/networks.ts";
import { acceptOperation } from "../../src/shared/publishing/accept/accept-operation.ts";
import type { AcceptedPost } from "../../src/shared/publishing/idempotency-store.ts";
import type { PostOperation } from "../../src/shared/publishing/post-change.ts";
import type { Post } from "../../src/shared/publishing/post.ts";
import type { Services } from "../../src/shared/compose.ts";
import { AppError } from "../../src/shared/runtime/errors.ts";
import { legOf, NOW, postOf } from "../publishing/fixtures.ts";
import {
  ACCESS_VERSION,
  type MemoryPartition,
  type PartitionAccess,
  type Weather,
} from "./memory-partition.ts";
import { aCharge } from "../setup/a-charge.ts";

const NETWORKS: readonly NetworkName[] = ["bluesky", "mastodon"];

/** A process on the wallet. */
export interface Instance {
  readonly partition: PartitionAccess;
  readonly commit: GroupCommit;
  /** Only what charging and crediting ask for. */
  readonly services: Services;
}

export function instanceOf(partition: MemoryPartition, weather: Weather): Instance {
  const view = partition.seenBy(weather, () => NOW);
  return through(view, new GroupCommit(view));
}

/** The process with another way to its partition. */
export function through(partition: PartitionAccess, commit: GroupCommit): Instance {
  const partitions = {
    commit: <T>(_: string, operation: PartitionOperation<T>) => commit.submit(operation),
  };
  // Safe: `charge.ts` needs the partitions alone.
  return { partition, commit, services: { ledger: { partitions } } as unknown as Services };
}

export const chargeOf = (id: string, tokens: number, kind = "charge") =>
  aCharge(`${kind} ${id}`, tokens, { requestId: id });

/** Returns how a commit ended: "ok", or the code of its error. */
export async function codeOf(asked: Promise<unknown>): Promise<string> {
  try {
    await asked;
    return "ok";
  } catch (error) {
    return error instanceof AppError ? error.code : String(error);
  }
}

/** A new post under the key: every request for one key makes a post of its own, of which one is accepted. */
export function acceptanceOf(key: string): { post: Post; operation: PostOperation<AcceptedPost> } {
  const post = postOf({ requestId: key });
  const legs = NETWORKS.map((network) => legOf({ network }));
  const operation = acceptOperation({
    idempotencyKey: key,
    found: { post, legs },
    accepted: { fingerprint: key, postId: post.id, profileId: post.profileId, httpStatus: 202 },
    pace: { legsPerSecond: 10, workCheckSeconds: 30 },
    accessVersion: ACCESS_VERSION,
  });
  return { post, operation };
}
