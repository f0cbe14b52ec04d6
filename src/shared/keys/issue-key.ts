import { recordAudit } from "../audit/record.ts";
import type { ApplicationScope } from "../callers/scope.ts";
import { AppError } from "../errors.ts";
import { newId } from "../ids.ts";
import { newApiKey } from "../secrets.ts";
import type { Services } from "../services.ts";
import type { ApiKey, KeyScope } from "./key.ts";
import { EXPIRING_KEYS_MAX } from "./key-roster.ts";
import { hashKeySecret } from "./verify-key.ts";

export interface NewKey {
  readonly name: string;
  readonly scope: KeyScope;
  readonly allowedProfileIds: readonly string[];
  readonly expiresAt: string | null;
}

/**
 * Makes and stores a key of the scope's application. The secret is not stored: this is the only time it is known.
 * @throws AppError `limit_reached`, not for a key that never expires
 */
export async function issueKey(
  services: Services,
  scope: ApplicationScope,
  wanted: NewKey,
): Promise<{ readonly key: ApiKey; readonly secret: string }> {
  const now = services.clock.now();
  const id = newId("key", now);
  const { secret, secretPart, keyPrefix } = newApiKey(id);
  const key: ApiKey = {
    id,
    platformId: scope.platformId,
    applicationId: scope.applicationId,
    name: wanted.name,
    scope: wanted.scope,
    allowedProfileIds: wanted.scope === "restricted" ? [...new Set(wanted.allowedProfileIds)] : [],
    keyPrefix,
    revoked: false,
    expiresAt: wanted.expiresAt,
    lastUsedAt: null,
    createdAt: now.toISOString(),
  };
  if (!(await services.keys.create(key, hashKeySecret(services, secretPart))))
    throw new AppError(
      "limit_reached",
      `An application has at most ${EXPIRING_KEYS_MAX} API keys that are to expire. Revoke one first.`,
    );
  recordAudit(services, scope, {
    action: "api_key.created",
    target: { type: "api_key", id },
    applicationId: key.applicationId,
  });
  return { key, secret };
}
