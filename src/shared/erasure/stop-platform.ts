import type { SystemCaller } from "../callers/caller.ts";
import type { ProfileScope, RequestScope } from "../callers/scope.ts";
import { endConnections } from "../connections/connections.ts";
import { closePosts, isCalling } from "../publishing/publishing.ts";
import { AppError } from "../runtime/errors.ts";
import type { Profile } from "../tenants/tenants.ts";
import type { ErasureDeps } from "./deps.ts";

/** Time that a request can wait. */
const REQUEST_MS_MAX = 20_000;

const CALLER: SystemCaller = { kind: "system", worker: "close-platform" };

/** Where stopping a platform continues, stored as JSON, or "" at its beginning. */
interface StopPosition {
  readonly keys?: string;
  /** Where the lists of profiles and of the first profile's posts continue. */
  readonly profiles?: string;
  readonly posts?: string;
}

export interface StopResult {
  /** The number of posts that have not ended, or were canceled just now. */
  readonly open: number;
  /** The number of profiles whose connections wait for running calls to the networks. */
  readonly waiting: number;
  readonly next: string | undefined;
}

interface Stopping {
  readonly scope: RequestScope;
  readonly platformId: string;
  /** Whether connections end even if calls are still running. */
  readonly isOverdue: boolean;
}

const cursorOf = (position: StopPosition) => JSON.stringify(position);
const textOrUndefined = (text: string | undefined) => (text === "" ? undefined : text);

async function stopProfile(
  deps: Pick<ErasureDeps, "publishing" | "connections">,
  { scope, platformId, isOverdue }: Stopping,
  { id: profileId, applicationId }: Profile,
  posts: string | undefined,
): Promise<StopResult> {
  const { publishing, connections } = deps;
  const own: ProfileScope = { ...scope, caller: CALLER, platformId, applicationId, profileId };
  const { open, next } = await closePosts(publishing, own, posts);
  if (next !== undefined) return { open, waiting: 0, next };
  if (!isOverdue && (await isCalling(publishing, own))) return { open, waiting: 1, next };
  await endConnections(connections, own);
  return { open, waiting: 0, next };
}

/**
 * Stops a page of what a closed platform has. Keys are revoked. Then, profile by profile, scheduled posts are canceled
 * and connections ended, later for a profile with a running call to a network. May be repeated.
 */
export async function stopPage(
  deps: ErasureDeps,
  stopping: Stopping,
  cursor: string,
): Promise<StopResult> {
  const { platformId } = stopping;
  const {
    keys,
    profiles = "",
    posts,
  } = cursor === "" ? { keys: "" } : (JSON.parse(cursor) as StopPosition);
  const { tenants } = deps;
  if (keys !== undefined) {
    const rest = await tenants.revokeKeys(platformId, textOrUndefined(keys));
    return {
      open: 0,
      waiting: 0,
      next: cursorOf(rest === undefined ? { profiles: "" } : { keys: rest }),
    };
  }
  const { items, next } = await tenants.listProfiles(platformId, textOrUndefined(profiles), 1);
  const [profile] = items;
  const after = next === undefined ? undefined : cursorOf({ profiles: next });
  if (profile === undefined) return { open: 0, waiting: 0, next: after };
  const stopped = await stopProfile(deps, stopping, profile, posts);
  if (stopped.next === undefined) return { ...stopped, next: after };
  return { ...stopped, next: cursorOf({ profiles, posts: stopped.next }) };
}

/**
 * Ends everything that ends with a closed platform, before the platform is opened again, because keys and connections
 * don't come back with it.
 * @throws AppError `invalid_state` while a network is being called, or when this takes longer than a request can wait
 */
export async function stopWhole(
  deps: ErasureDeps,
  scope: RequestScope,
  platformId: string,
): Promise<void> {
  const endsAt = performance.now() + REQUEST_MS_MAX;
  const { requestId, ip } = scope;
  const stopping = { scope: { requestId, ip }, platformId, isOverdue: false };
  let waiting = 0;
  for (let cursor: string | undefined = ""; cursor !== undefined;) {
    const page: StopResult = await stopPage(deps, stopping, cursor);
    waiting += page.waiting;
    cursor = page.next;
    if (waiting > 0 || (cursor !== undefined && performance.now() > endsAt))
      throw new AppError(
        "invalid_state",
        "The platform is still being closed. Try again in a few minutes.",
      );
  }
}
