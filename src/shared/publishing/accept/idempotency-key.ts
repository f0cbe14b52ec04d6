import { AppError } from "../../runtime/errors.ts";
import { sha256Hex } from "../../runtime/secrets.ts";
import type { RemovedPage } from "../../runtime/walk-step.ts";
import { undefinedIfDamaged } from "../../runtime/storage/damaged-row.ts";
import type { PublishingDeps } from "../deps.ts";
import type { Draft } from "../post.ts";
import { inBatches, SingleFlight } from "../../runtime/promises.ts";

/** Without the comma, with which the host joins two keys. */
const IDEMPOTENCY_KEY = /^[\x21-\x2b\x2d-\x7e]{8,128}$/;

/** Parses the Idempotency-Key of a request. @throws AppError `idempotency_key_required`, `idempotency_key_invalid` */
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
      "The Idempotency-Key must be 8 to 128 visible ASCII characters without spaces and commas.",
    );
  return key;
}

/** Sorts the names in the value, so that their order doesn't change the JSON. */
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
 * Version of fingerprints. Keys live as long as posts, so what a version hashes never changes. A new field of a draft
 * has null as its default, which is left out, or makes a new version.
 */
const VERSION = "1.";

interface KeyedScope {
  readonly applicationId: string;
  readonly profileId: string;
}

/** Returns the hash (of application, profile and parsed body) by which requests under one Idempotency-Key are equal. */
export function fingerprint({ applicationId, profileId }: KeyedScope, draft: Draft): string {
  const request = canonical({ applicationId, profileId, draft });
  return VERSION + sha256Hex(JSON.stringify(request));
}

/**
 * Reports whether a stored fingerprint is that of a request. One of a later version can't be compared and counts as the
 * same, because answering with the post publishes nothing.
 */
export function isSameRequest(stored: string, scope: KeyedScope, draft: Draft): boolean {
  return !stored.startsWith(VERSION) || stored === fingerprint(scope, draft);
}

const POSTS_AT_ONCE = 16;
/** Longer than it takes to accept a post. */
const KEYS_YOUNG_MS = 24 * 60 * 60 * 1000;

/**
 * Removes from a page of Idempotency-Keys those whose post is gone. A key lives as long as its post, because without it
 * a repeated request would publish a second one. An erasure removes the keys itself; this finds those that it left.
 */
export async function removeSpentKeys(
  deps: PublishingDeps,
  platformId: string,
  after: string | undefined,
): Promise<RemovedPage> {
  const { idempotency } = deps.stores;
  const acceptedBefore = new Date(deps.clock.now().getTime() - KEYS_YOUNG_MS);
  const { keys, next } = await idempotency.listBefore(platformId, acceptedBefore, after);
  const profiles = new SingleFlight<boolean>(Infinity);
  const gone = await inBatches(keys, POSTS_AT_ONCE, async ({ accepted }) => {
    const { profileId, postId } = accepted;
    // Only an erasure removes posts, together with their profile. If that exists, its posts needn't be read.
    const hasProfile = await profiles.run(profileId, async () => {
      const found = deps.tenants.findProfile(platformId, profileId);
      return (await undefinedIfDamaged(found)) !== undefined;
    });
    if (hasProfile) return false;
    return (await deps.stores.posts.findPost({ platformId, profileId, postId })) === undefined;
  });
  const spent = keys.filter((_, at) => gone[at] === true).map(({ rowKey }) => rowKey);
  await idempotency.remove(platformId, spent);
  return { removed: spent.length, next };
}
