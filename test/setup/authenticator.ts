import { codeOf, stepAt } from "../../src/shared/people/staff/second-factor.ts";
import { dataOf } from "./factories.ts";
import type { Relay } from "./relay.ts";

const HALF_MINUTE = 30_000;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

function fromBase32(text: string): Uint8Array {
  const bits = Array.from(text, (character) =>
    ALPHABET.indexOf(character).toString(2).padStart(5, "0"),
  );
  const bytes = bits.join("").match(/[01]{8}/g) ?? [];
  return Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 2));
}

/** A person's authenticator app, which knows nothing but the secret that was shown. */
export interface Authenticator {
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
  /** The code of now, or of so many steps of half a minute later. */
  readonly code: (stepsLater?: number) => string;
}

/** The app of somebody whose secret is known. */
function authenticatorOf(
  relay: Relay,
  secret: string,
  recoveryCodes: readonly string[] = [],
): Authenticator {
  return {
    secret,
    recoveryCodes,
    code: (stepsLater = 0) => codeOf(fromBase32(secret), stepAt(relay.clock.now()) + stepsLater),
  };
}

/** A secret that was shown and not confirmed yet. */
export async function startedTotp(relay: Relay, session: string): Promise<Authenticator> {
  const { secret } = dataOf(await relay.call("POST", "/v1/auth/totp", { session }));
  return authenticatorOf(relay, secret);
}

/**
 * TOTP switched on. The next half minute has just begun: its code is not the one that confirmed the secret, and stays
 * the same for the length of a test.
 */
export async function enabledTotp(relay: Relay, session: string): Promise<Authenticator> {
  const { secret, code } = await startedTotp(relay, session);
  const call = { session, body: { code: code() } };
  const { recoveryCodes } = dataOf(await relay.call("POST", "/v1/auth/totp/confirm", call));
  relay.advance(HALF_MINUTE - (relay.clock.now().getTime() % HALF_MINUTE));
  return authenticatorOf(relay, secret, recoveryCodes);
}
