import type { ApiKeyCaller } from "../../callers/caller.ts";
import { invalidCredentials } from "../../callers/credential.ts";
import { AppError } from "../../runtime/errors.ts";
import { equalSecrets, hmacSha256, parseApiKey } from "../../runtime/secrets.ts";
import type { TenantsDeps } from "../deps.ts";
import { keyStatus } from "./key.ts";
import type { KeyBinding, KeyWithHash } from "./key-store.ts";

/** What is stored of a key's secret: of no use without the pepper. */
export function hashKeySecret({ keyPeppers }: TenantsDeps, secretPart: string): Buffer {
  return hmacSha256(keyPeppers.current, secretPart);
}

type Stored = Pick<KeyWithHash, "hash" | "isDerived">;

/** With which pepper the hash was made of the secret; undefined when it is another secret's. */
function pepperOf(
  { keyPeppers, config }: TenantsDeps,
  secretPart: string,
  { hash, isDerived }: Stored,
): "current" | "previous" | undefined {
  const { keyPepper, previousKeyPepper } = config.identity;
  const current = isDerived ? keyPeppers.current : keyPepper;
  const previous = isDerived ? keyPeppers.previous : previousKeyPepper;
  if (equalSecrets(hmacSha256(current, secretPart), hash)) return "current";
  if (previous === undefined) return undefined;
  return equalSecrets(hmacSha256(previous, secretPart), hash) ? "previous" : undefined;
}

/** With the pepper of now, so that the one before can go once every key in use was used. Best effort. */
async function hashAnew(
  services: TenantsDeps,
  { key, etag }: KeyWithHash,
  secretPart: string,
): Promise<void> {
  try {
    const hash = hashKeySecret(services, secretPart);
    await services.keys.replaceHashIfUnchanged(key.id, hash, etag);
  } catch (error) {
    services.log.warn("key not hashed anew, its next use will", { keyId: key.id, error });
  }
}

const NOBODY: Stored = { hash: new Uint8Array(32), isDerived: true };

/**
 * The caller behind a presented key. The key row is read on every request, so a revoke bites on the next one;
 * `alongside` is read with it in the same round trip once this process knows where the key belongs.
 * @throws AppError `invalid_credentials`; `api_key_revoked` and `api_key_expired` only when the secret is right
 */
export async function verifyKey<T>(
  services: TenantsDeps,
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
  const pepper = pepperOf(services, parsed.secretPart, found ?? NOBODY);
  if (found === undefined || pepper === undefined) throw invalidCredentials();
  const { key } = found;
  const now = services.clock.now();
  const status = keyStatus(key, now);
  if (status === "revoked") throw new AppError("api_key_revoked", "The API key was revoked.");
  if (status === "expired") throw new AppError("api_key_expired", "The API key has expired.");
  const isNoted = services.keys.noteUse(key.id, now);
  if (pepper === "previous") await hashAnew(services, found, parsed.secretPart);
  // Valid for good, so that nobody has to wait until it is renewed.
  else if (!found.isDerived && isNoted) void hashAnew(services, found, parsed.secretPart);
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
