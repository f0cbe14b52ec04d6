import { invariant } from "../../runtime/errors.ts";
import { equalSecrets, reseal, seal, sealingKey, unseal } from "../../runtime/secrets.ts";
import type { Config } from "../../config/config.ts";
import type { PeopleDeps } from "../deps.ts";
import {
  hashRecoveryCode,
  newRecoveryCodes,
  parseRecoveryCode,
  type CodeProof,
  type SecondFactor,
  clockOffset,
  matchingStep,
  plainCode,
} from "./second-factor.ts";

interface SecretOwner {
  readonly id: string;
  readonly platformId: string;
}

/** Returns the context that a sealed secret is bound to, so that it doesn't open for another user. */
const totpBinding = ({ id, platformId }: SecretOwner) => `totp|${platformId}|${id}`;

export function sealSecret(config: Config, owner: SecretOwner, secret: Uint8Array): string {
  const text = Buffer.from(secret).toString("base64");
  return seal(text, totpBinding(owner), config.identity.dataKeys);
}

/** Encrypts a stored TOTP secret with the first data key. Undefined when it already is. */
function resealSecret(config: Config, owner: SecretOwner, sealed: string): string | undefined {
  return reseal(sealed, totpBinding(owner), config.identity.dataKeys);
}

function unsealSecret(config: Config, owner: SecretOwner, { sealedSecret }: SecondFactor): Buffer {
  const text = unseal(sealedSecret, totpBinding(owner), config.identity.dataKeys);
  invariant(text !== undefined, "a TOTP secret does not open: its data key is gone");
  return Buffer.from(text, "base64");
}

/** Makes recovery codes to show once, and the hashes to store. */
export function makeRecoveryCodes(config: Config, owner: SecretOwner) {
  const codes = newRecoveryCodes();
  const { keyPepper } = config.identity;
  const hashes = codes.map((code) =>
    hashRecoveryCode(parseRecoveryCode(code) ?? "", owner.id, keyPepper),
  );
  return { codes, hashes };
}

export type CodeDeps = Pick<PeopleDeps, "config" | "clock">;

/** Checks a code of the app. Undefined when it is wrong now, or was accepted before. */
export function checkTotpCode(
  deps: CodeDeps,
  owner: SecretOwner & { readonly secondFactor: SecondFactor },
  text: string,
): CodeProof | undefined {
  const { secondFactor } = owner;
  const secret = unsealSecret(deps.config, owner, secondFactor);
  const { lastStep } = secondFactor;
  const step = matchingStep(secret, plainCode(text), {
    now: deps.clock.now(),
    lastStep,
  });
  return step === undefined ? undefined : { kind: "totp_code", step };
}

/**
 * Returns by how many seconds the clock of an app that shows the code is ahead, or behind if negative. Undefined for a
 * code of no time near. Only said while the second factor is set up: who types the code has its secret then.
 */
export function clockOffsetOf(
  deps: CodeDeps,
  owner: SecretOwner & { readonly secondFactor: SecondFactor },
  text: string,
): number | undefined {
  const secret = unsealSecret(deps.config, owner, owner.secondFactor);
  return clockOffset(secret, plainCode(text), deps.clock.now());
}

function checkRecoveryCode(
  config: Config,
  owner: SecretOwner & { readonly secondFactor: SecondFactor },
  text: string,
): CodeProof | undefined {
  const code = parseRecoveryCode(text);
  if (code === undefined) return undefined;
  const { keyPepper, previousKeyPepper } = config.identity;
  const given = [keyPepper, previousKeyPepper ?? keyPepper].map((pepper) =>
    hashRecoveryCode(code, owner.id, pepper),
  );
  const hash = owner.secondFactor.recoveryHashes.find((known) =>
    given.some((hash) => equalSecrets(Buffer.from(hash), Buffer.from(known))),
  );
  return hash === undefined ? undefined : { kind: "recovery_code", hash };
}

/** Checks a code of the app, or a recovery code. Undefined when it is wrong or used up. */
export function checkCode(
  deps: CodeDeps,
  owner: SecretOwner & { readonly secondFactor: SecondFactor },
  text: string,
): CodeProof | undefined {
  return checkTotpCode(deps, owner, text) ?? checkRecoveryCode(deps.config, owner, text);
}

const PAGE = 500;

/** Encrypts the TOTP secrets of a platform's users with the first data key. Returns the key that now encrypts each. */
export async function resealSecondFactors(deps: PeopleDeps, platformId: string): Promise<string[]> {
  const keys: string[] = [];
  let after: string | undefined;
  do {
    const { items, next } = await deps.stores.users.list(platformId, after, PAGE);
    for (const user of items) {
      const { secondFactor } = user;
      if (secondFactor === null) continue;
      const isOld = resealSecret(deps.config, user, secondFactor.sealedSecret) !== undefined;
      const resealed = isOld ? await resealOne(deps, user) : undefined;
      keys.push(sealingKey(resealed ?? secondFactor.sealedSecret));
    }
    after = next;
  } while (after !== undefined);
  return keys;
}

async function resealOne(
  deps: Pick<PeopleDeps, "config" | "stores">,
  owner: { readonly id: string; readonly platformId: string },
): Promise<string | undefined> {
  const changed = await deps.stores.users.update(owner, ({ secondFactor }) => {
    if (secondFactor === null) return undefined;
    const sealedSecret = resealSecret(deps.config, owner, secondFactor.sealedSecret);
    return sealedSecret === undefined
      ? undefined
      : { secondFactor: { ...secondFactor, sealedSecret } };
  });
  return changed?.secondFactor?.sealedSecret;
}
