import type { ApiKeyCaller } from "../../callers/caller.ts";
import { OutdatedAccess } from "../../partition/partition.ts";
import { invalidCredentials } from "../../callers/credential.ts";
import { AppError } from "../../runtime/errors.ts";
import type { RotatingKeys } from "../../runtime/rotating-keys.ts";
import { equalSecrets, hmacSha256, parseApiKey } from "../../runtime/secrets.ts";
import type { TenantRows } from "../access-rows.ts";
import type { TenantsDeps } from "../deps.ts";
import { keyStatus } from "./key.ts";
import type { KeyBinding, KeyWithHash } from "./key-store.ts";

/** Returns the stored form of a key's secret. It is useless without the pepper. */
export function hashKeySecret({ current }: RotatingKeys, secretPart: string): Buffer {
  return hmacSha256(current, secretPart);
}

/** Returns the pepper with which the hash was made from the secret, or undefined when the secret is another one. */
function pepperOf(
  { current, previous }: RotatingKeys,
  secretPart: string,
  hash: Uint8Array,
): "current" | "previous" | undefined {
  if (equalSecrets(hmacSha256(current, secretPart), hash)) return "current";
  if (previous === undefined) return undefined;
  return equalSecrets(hmacSha256(previous, secretPart), hash) ? "previous" : undefined;
}

/**
 * Stores the hash made with the current pepper, so that the settings can drop the previous one once every key was used.
 * A failure does no harm.
 */
async function hashAgain(
  deps: Pick<TenantsDeps, "log" | "stores" | "secrets">,
  { key, etag }: KeyWithHash,
  secretPart: string,
): Promise<void> {
  try {
    const hash = hashKeySecret(deps.secrets.keyPeppers, secretPart);
    await deps.stores.keys.replaceHashIfUnchanged(key, hash, etag);
  } catch (error) {
    deps.log.warn("key not hashed again, its next use tries again", {
      keyId: key.id,
      error,
    });
  }
}

/** Returns the platform of an API key that this process has read before, without checking the key. */
export function platformOfKey({ stores }: TenantsDeps, presented: string): string | undefined {
  return stores.keys.bindingOf(parseApiKey(presented)?.keyId ?? "")?.platformId;
}

const NOBODY = new Uint8Array(32);

/**
 * Returns the caller who presents a key, checked on `rows`. `alongside` is read in the same round trip if this process
 * knows the key's application.
 * @throws AppError `invalid_credentials`; `api_key_revoked` and `api_key_expired` only when the secret is right
 */
export async function verifyKey<T>(
  deps: TenantsDeps,
  { presented, rows }: { readonly presented: string; readonly rows: TenantRows },
  alongside: (binding: KeyBinding) => Promise<T>,
): Promise<{ readonly caller: ApiKeyCaller; readonly alongside: T }> {
  const parsed = parseApiKey(presented);
  if (parsed === undefined)
    throw invalidCredentials({ check: "form", expected: "an API key with a right checksum" });
  const known = deps.stores.keys.bindingOf(parsed.keyId);
  const [found, early] = await Promise.all([
    rows.key(parsed.keyId),
    known === undefined ? undefined : alongside(known),
  ]);
  // Computed for unknown ids too, so that the response time doesn't tell them apart.
  const pepper = pepperOf(deps.secrets.keyPeppers, parsed.secretPart, found?.hash ?? NOBODY);
  if (found === undefined)
    throw invalidCredentials({ check: "key id", expected: "a key", found: parsed.keyId });
  if (pepper === undefined)
    throw invalidCredentials({
      check: "hash",
      expected: "made with KEY_PEPPER or KEY_PEPPER_PREVIOUS",
      found: parsed.keyId,
    });
  const { key } = found;
  // Making a hash again needs the stored row.
  if (rows.areCached && pepper === "previous") throw new OutdatedAccess();
  const now = deps.clock.now();
  // Refuses a key that has ended.
  const status = keyStatus(key, now);
  if (status === "expired") throw new AppError("api_key_expired", "The API key has expired.");
  if (status === "revoked") throw new AppError("api_key_revoked", "The API key was revoked.");
  deps.stores.keys.noteUse(key.id, now);
  if (pepper === "previous") await hashAgain(deps, found, parsed.secretPart);
  const { id: keyId, platformId, applicationId, scope: keyScope, allowedProfileIds } = key;
  return {
    caller: { kind: "api_key", keyId, platformId, applicationId, keyScope, allowedProfileIds },
    alongside: early ?? (await alongside(key)),
  };
}

/** Reports whether a key exists and has not ended. */
export async function isKeyActive(
  rows: Pick<TenantRows, "key">,
  id: string,
  now: Date,
): Promise<boolean> {
  const found = await rows.key(id);
  return found !== undefined && keyStatus(found.key, now) === "active";
}
