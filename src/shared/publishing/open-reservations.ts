import type { NetworkName } from "../networks/lookup.ts";
import { inBatches } from "../runtime/promises.ts";
import type { PublishingDeps } from "./deps.ts";

const POSTS_AT_ONCE = 32;

/** A leg with tokens reserved. */
export interface OpenReservation {
  readonly postId: string;
  readonly network: NetworkName;
  readonly tokens: number;
  readonly key: string;
  readonly lastAttemptAt: string | null;
}

/** Returns the legs with tokens reserved: only posts with open work have any. Undefined when there are more than `max`. */
export async function openReservations(
  { stores: { posts } }: PublishingDeps,
  platformId: string,
  max: number,
): Promise<readonly OpenReservation[] | undefined> {
  const open: OpenReservation[] = [];
  let after: string | undefined;
  do {
    const { works, next } = await posts.listOpenWork(platformId, after);
    await inBatches(works, POSTS_AT_ONCE, async ({ ref }) => {
      for (const { network, calls, reservation } of (await posts.find(ref))?.legs ?? []) {
        if (reservation.state !== "open") continue;
        const [{ key, lastAttemptAt }] = calls;
        open.push({ ...ref, network, key, lastAttemptAt, tokens: reservation.tokens });
      }
    });
    if (open.length > max) return undefined;
    after = next;
  } while (after !== undefined);
  return open;
}
