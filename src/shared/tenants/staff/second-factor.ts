/** A user's authenticator app, and the codes for the day it is lost. */
export interface SecondFactor {
  readonly sealedSecret: string;
  /** Whether a first code has proved that the app knows the secret. Until then nothing asks for it. */
  readonly confirmed: boolean;
  /** Of the last code that was accepted. Codes of it and of earlier steps are refused (RFC 6238, 5.2). */
  readonly lastStep: number;
  /** Of the recovery codes that are left. */
  readonly recoveryHashes: readonly string[];
}

/** A right code that is not used up yet. */
export type Proof =
  | { readonly kind: "totp_code"; readonly step: number }
  | { readonly kind: "recovery_code"; readonly hash: string };

/** What is left after the proof was used; undefined when somebody used it first. */
export function spend(factor: SecondFactor, proof: Proof): SecondFactor | undefined {
  if (proof.kind === "totp_code")
    return proof.step > factor.lastStep ? { ...factor, lastStep: proof.step } : undefined;
  const recoveryHashes = factor.recoveryHashes.filter((hash) => hash !== proof.hash);
  return recoveryHashes.length < factor.recoveryHashes.length
    ? { ...factor, recoveryHashes }
    : undefined;
}
