import type { Actor } from "../../callers/caller.ts";

/** `app_admin`: every profile of the application. `restricted`: the profiles of the key's allowlist. */
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
  readonly createdBy: Actor;
}

export type KeyStatus = "active" | "revoked" | "expired";

/** Returns the state of a key at a time. A revoked key stays revoked after its expiry. */
export function keyStatus(
  { revoked, expiresAt }: Pick<ApiKey, "revoked" | "expiresAt">,
  now: Date,
): KeyStatus {
  if (revoked) return "revoked";
  return expiresAt !== null && Date.parse(expiresAt) <= now.getTime() ? "expired" : "active";
}

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
  readonly createdBy: Actor;
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

export interface KeyCreated extends KeyView {
  /** Only in this answer, because it is not stored. */
  readonly secret: string;
}
