import { AppError } from "../../runtime/errors.ts";
import { sha256Hex } from "../../runtime/secrets.ts";
import type { PublishingDeps } from "../deps.ts";
import type { Accepted } from "../idempotency-store.ts";
import type { Draft, PostStatus } from "../post.ts";

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{8,128}$/;

/**
 * Returns the Idempotency-Key of a request.
 * @throws AppError `idempotency_key_required`, `idempotency_key_invalid`
 */
export function parseIdempotencyKey(given: string | null): string {
  const key = given?.trim() ?? "";
  if (key === "")
    throw new AppError(
      "idempotency_key_required",
      "Send an Idempotency-Key header: it makes repeating this request safe.",
    );
  if (!IDEMPOTENCY_KEY.test(key))
    throw new AppError(
      "idempotency_key_invalid",
      "The Idempotency-Key must be 8 to 128 visible ASCII characters without spaces.",
    );
  return key;
}

const FINGERPRINT_VERSION = 1;

/** Returns the value with sorted names, so that their order does not change the JSON. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined && item !== null)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, item]) => [name, canonical(item)]),
  );
}

/**
 * Returns what makes two requests under one Idempotency-Key the same: a hash of application, profile and parsed body.
 */
export function fingerprint(
  scope: { readonly applicationId: string; readonly profileId: string },
  draft: Draft,
): string {
  const { applicationId, profileId } = scope;
  return sha256Hex(
    JSON.stringify(canonical({ VERSION: FINGERPRINT_VERSION, applicationId, profileId, draft })),
  );
}

/** A key is kept this long after its post ended, since a client may still repeat the request. */
const ENDED_MS = 30 * 24 * 60 * 60 * 1000;
const POSTS_AT_ONCE = 16;
const OPEN: ReadonlySet<PostStatus> = new Set(["scheduled", "processing"]);

/** Returns whether the post of a key ended long ago, or was erased. */
async function isSpent(
  services: PublishingDeps,
  platformId: string,
  { profileId, postId }: Accepted,
): Promise<boolean> {
  const post = await services.posts.findPost({ platformId, profileId, postId });
  if (post === undefined) return true;
  if (OPEN.has(post.status)) return false;
  const endedAt = Date.parse(post.completedAt ?? post.updatedAt);
  return services.clock.now().getTime() - endedAt > ENDED_MS;
}

/** Removes a page of the Idempotency-Keys of posts that ended long ago or were erased. */
export async function removeSpentKeys(
  services: PublishingDeps,
  platformId: string,
  { acceptedBefore, after }: { readonly acceptedBefore: Date; readonly after: string | undefined },
): Promise<{ readonly removed: number; readonly next: string | undefined }> {
  const { idempotency } = services;
  const { keys, next } = await idempotency.listBefore(platformId, acceptedBefore, after);
  let removed = 0;
  for (let index = 0; index < keys.length; index += POSTS_AT_ONCE) {
    const batch = keys.slice(index, index + POSTS_AT_ONCE);
    const gone = await Promise.all(
      batch.map(async ({ rowKey, accepted }) => {
        if (!(await isSpent(services, platformId, accepted))) return false;
        await idempotency.remove(platformId, rowKey);
        return true;
      }),
    );
    removed += gone.filter(Boolean).length;
  }
  return { removed, next };
}
