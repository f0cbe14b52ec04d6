import { recordAudit } from "../../audit/record.ts";
import { actorOf } from "../../callers/caller.ts";
import type { ApplicationScope } from "../../callers/scope.ts";
import { AppError } from "../../runtime/errors.ts";
import { newId } from "../../runtime/ids.ts";
import { newApiKey } from "../../runtime/secrets.ts";
import type { TenantsDeps } from "../deps.ts";
import type { ApiKey, KeyScope } from "./key.ts";
import { LINEAGE_MAX, type Lineage } from "./key-lineage.ts";
import { EXPIRING_KEYS_MAX, LIVE_KEYS_MAX } from "./key-roster.ts";
import { hashKeySecret } from "./verify-key.ts";

export interface NewKey {
  readonly name: string;
  readonly scope: KeyScope;
  readonly allowedProfileIds: readonly string[];
  readonly expiresAt: string | null;
}

function limitReached(message: string): AppError {
  return new AppError("limit_reached", message);
}

/** What a key that the caller makes descends from. @throws AppError `limit_reached` */
async function lineageOf(
  services: TenantsDeps,
  { caller, platformId }: ApplicationScope,
): Promise<Lineage> {
  if (caller.kind === "session") return [];
  const before = await services.keys.lineage({ id: caller.keyId, platformId });
  const lineage = [...before, caller.keyId];
  if (lineage.length <= LINEAGE_MAX) return lineage;
  // What is deleted for good can't be named any more, and so nothing has to be found by it.
  const found = await Promise.all(lineage.map((id) => services.keys.findWithHash(id)));
  const kept = lineage.filter((_id, index) => found[index] !== undefined);
  if (kept.length <= LINEAGE_MAX) return kept;
  throw limitReached(
    `A key descends from at most ${LINEAGE_MAX} others. Delete revoked ones, or make the key in a session.`,
  );
}

/**
 * A key that ended while it was making another one leaves none: whoever ends it together with what it made has looked for
 * that by now, or sees the new one.
 * @throws AppError `api_key_revoked`
 */
async function requireMakerAlive(
  services: TenantsDeps,
  { caller }: ApplicationScope,
  made: ApiKey,
): Promise<void> {
  if (caller.kind === "session") return;
  const maker = await services.keys.findWithHash(caller.keyId);
  if (maker !== undefined && !maker.key.revoked) return;
  await services.keys.purge(made);
  throw new AppError("api_key_revoked", "The API key was revoked.");
}

/**
 * Makes and stores a key of the scope's application. The secret is not stored: this is the only time it is known.
 * @throws AppError `limit_reached`; `api_key_revoked` when the caller was in the meantime
 */
export async function issueKey(
  services: TenantsDeps,
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
    createdBy: actorOf(scope.caller),
  };
  const lineage = await lineageOf(services, scope);
  if (!(await services.keys.create(key, hashKeySecret(services, secretPart), lineage)))
    throw limitReached(
      `An application has at most ${LIVE_KEYS_MAX} API keys in use, and ${EXPIRING_KEYS_MAX} with those that expired within the hour. Revoke one, or wait.`,
    );
  await requireMakerAlive(services, scope, key);
  recordAudit(services, scope, {
    action: "api_key.created",
    target: { type: "api_key", id },
    applicationId: key.applicationId,
  });
  return { key, secret };
}
