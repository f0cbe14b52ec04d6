import type { OpenReservation } from "../ledger/ledger.ts";
import { inBatches } from "../runtime/promises.ts";
import type { PublishingStores } from "./stores.ts";

const POSTS_AT_ONCE = 32;

/** Returns the legs with tokens reserved: only posts with open work have any. Undefined when there are more than `max`. */
export async function openReservations(
  { posts }: Pick<PublishingStores, "posts">,
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
