import type { ApiKeyCaller } from "../callers/caller.ts";
import { invalidCredentials } from "../callers/credential.ts";
import { AppError } from "../errors.ts";
import { equalSecrets, hmacSha256, parseApiKey } from "../secrets.ts";
import type { Services } from "../services.ts";
import { keyStatus } from "./key.ts";
import type { KeyBinding } from "./key-store.ts";

/** What is stored of a key's secret: of no use without the pepper. */
export function hashKeySecret(services: Services, secretPart: string): Buffer {
  return hmacSha256(services.config.identity.keyPepper, secretPart);
}

/** Whether the hash is the secret's, made with the pepper of now or the one before. */
function hasSecret(services: Services, secretPart: string, hash: Uint8Array): boolean {
  const { previousKeyPepper } = services.config.identity;
  if (equalSecrets(hashKeySecret(services, secretPart), hash)) return true;
  if (previousKeyPepper === undefined) return false;
  return equalSecrets(hmacSha256(previousKeyPepper, secretPart), hash);
}

const NOBODY = new Uint8Array(32);

/**
 * The caller behind a presented key. The key row is read on every request, so a revoke bites on the next one;
 * `alongside` is read with it in the same round trip once this process knows where the key belongs.
 * @throws AppError `invalid_credentials`; `api_key_revoked` and `api_key_expired` only when the secret is right
 */
export async function verifyKey<T>(
  services: Services,
  presented: string,
  alongside: (binding: KeyBinding) => Promise<T>,
): Promise<{ readonly caller: ApiKeyCaller; readonly alongside: T }> {
  const parsed = parseApiKey(presented);
  if (parsed === undefined) throw invalidCredentials();
  const known = services.keys.bindingOf(parsed.keyId);
  const [found, early] = await Promise.all([
    services.keys.findWithHash(parsed.keyId),
    known === undefined ? undefined : alongside(known),
  ]);
  // The comparison is made for unknown ids too, so that they can't be told by its absence.
  const right = hasSecret(services, parsed.secretPart, found?.hash ?? NOBODY);
  if (found === undefined || !right) throw invalidCredentials();
  const { key } = found;
  const now = services.clock.now();
  const status = keyStatus(key, now);
  if (status === "revoked") throw new AppError("api_key_revoked", "The API key was revoked.");
  if (status === "expired") throw new AppError("api_key_expired", "The API key has expired.");
  services.keys.noteUse(key.id, now);
  const { platformId, applicationId, allowedProfileIds } = key;
  const caller: ApiKeyCaller = {
    kind: "api_key",
    keyId: key.id,
    platformId,
    applicationId,
    keyScope: key.scope,
    allowedProfileIds,
  };
  return { caller, alongside: early ?? (await alongside(key)) };
}
