import type { Actor } from "../../callers/caller.ts";

export const KEY_SCOPES = ["app_admin", "restricted"] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** An application's API key, without its secret. */
export interface ApiKey {
  readonly id: string;
  readonly platformId: string;
  readonly applicationId: string;
  readonly name: string;
  readonly scope: KeyScope;
  /** Empty for `app_admin`, which may act for every profile of its application. */
  readonly allowedProfileIds: readonly string[];
  readonly keyPrefix: string;
  readonly revoked: boolean;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  readonly createdAt: string;
  /** Null for a key of a version that did not keep it. */
  readonly createdBy: Actor | null;
}

export type KeyStatus = "active" | "revoked" | "expired";

/** A revoked key stays revoked when its time is over too. */
export function keyStatus(
  { revoked, expiresAt }: Pick<ApiKey, "revoked" | "expiresAt">,
  now: Date,
): KeyStatus {
  if (revoked) return "revoked";
  return expiresAt !== null && Date.parse(expiresAt) <= now.getTime() ? "expired" : "active";
}

/** What an answer shows of a key. */
export interface KeyView {
  readonly id: string;
  readonly applicationId: string;
  readonly name: string;
  readonly scope: KeyScope;
  readonly allowedProfileIds: readonly string[];
  readonly keyPrefix: string;
  readonly status: KeyStatus;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  readonly createdAt: string;
  /** Null for a key of a version that did not keep it. */
  readonly createdBy: Actor | null;
}

export function viewKey(key: ApiKey, now: Date): KeyView {
  return {
    id: key.id,
    applicationId: key.applicationId,
    name: key.name,
    scope: key.scope,
    allowedProfileIds: key.allowedProfileIds,
    keyPrefix: key.keyPrefix,
    status: keyStatus(key, now),
    expiresAt: key.expiresAt,
    lastUsedAt: key.lastUsedAt,
    createdAt: key.createdAt,
    createdBy: key.createdBy,
  };
}
