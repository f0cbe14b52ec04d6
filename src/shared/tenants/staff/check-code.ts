import { invariant } from "../../runtime/errors.ts";
import { equalSecrets, reseal, seal, unseal } from "../../runtime/secrets.ts";
import type { TenantsDeps } from "../deps.ts";
import {
  hashesOfRecoveryCode,
  hashRecoveryCode,
  newRecoveryCodes,
  parseRecoveryCode,
} from "./recovery-code.ts";
import type { Proof, SecondFactor } from "./second-factor.ts";
import { matchingStep } from "./totp.ts";

interface Owner {
  readonly id: string;
  readonly platformId: string;
}

const placeOf = ({ id, platformId }: Owner) => `totp|${platformId}|${id}`;

export function sealSecret(services: TenantsDeps, owner: Owner, secret: Uint8Array): string {
  const text = Buffer.from(secret).toString("base64");
  return seal(text, placeOf(owner), services.config.identity.dataKeys);
}

/** Undefined when it is sealed with the first data key already. */
export function resealSecret(
  services: TenantsDeps,
  owner: Owner,
  sealed: string,
): string | undefined {
  return reseal(sealed, placeOf(owner), services.config.identity.dataKeys);
}

function unsealSecret(services: TenantsDeps, owner: Owner, { sealedSecret }: SecondFactor): Buffer {
  const text = unseal(sealedSecret, placeOf(owner), services.config.identity.dataKeys);
  invariant(text !== undefined, "a TOTP secret does not open: its data key is gone");
  return Buffer.from(text, "base64");
}

/** Codes to show once, and what to store of them. */
export function makeRecoveryCodes(services: TenantsDeps, owner: Owner) {
  const codes = newRecoveryCodes();
  const { keyPepper } = services.config.identity;
  const hashes = codes.map((code) =>
    hashRecoveryCode(parseRecoveryCode(code) ?? "", owner.id, keyPepper),
  );
  return { codes, hashes };
}

/** The app's code, when it is right now and was not accepted before. */
export function checkTotpCode(
  services: TenantsDeps,
  owner: Owner & { readonly secondFactor: SecondFactor },
  text: string,
): Proof | undefined {
  const { secondFactor } = owner;
  const step = matchingStep(unsealSecret(services, owner, secondFactor), text.replace(/\s/g, ""), {
    now: services.clock.now(),
    lastStep: secondFactor.lastStep,
  });
  return step === undefined ? undefined : { kind: "totp_code", step };
}

function checkRecoveryCode(
  services: TenantsDeps,
  owner: Owner & { readonly secondFactor: SecondFactor },
  text: string,
): Proof | undefined {
  const code = parseRecoveryCode(text);
  if (code === undefined) return undefined;
  const { keyPepper, previousKeyPepper } = services.config.identity;
  const given = [keyPepper, previousKeyPepper ?? keyPepper].flatMap((pepper) =>
    hashesOfRecoveryCode(code, owner.id, pepper),
  );
  const hash = owner.secondFactor.recoveryHashes.find((known) =>
    given.some((hash) => equalSecrets(Buffer.from(hash), Buffer.from(known))),
  );
  return hash === undefined ? undefined : { kind: "recovery_code", hash };
}

/** The app's code or a recovery code, when it is right and not used up. */
export function checkCode(
  services: TenantsDeps,
  owner: Owner & { readonly secondFactor: SecondFactor },
  text: string,
): Proof | undefined {
  return checkTotpCode(services, owner, text) ?? checkRecoveryCode(services, owner, text);
}
