import { AppError } from "../runtime/errors.ts";
import type { SessionCaller } from "./caller.ts";
import { CONFIRMED_SECONDS } from "./tokens.ts";

/** Reports whether the user proved their identity within the last ten minutes. */
export function isConfirmed({ confirmedUntil }: SessionCaller, now: Date): boolean {
  return confirmedUntil !== null && Date.parse(confirmedUntil) > now.getTime();
}

export function ownerRequired(): AppError {
  return new AppError("owner_required", "Only an owner of the platform may do this. Ask an owner.");
}

export function confirmationRequired(): AppError {
  return new AppError(
    "confirmation_required",
    "Enter the password again with POST /v1/auth/confirm, and use the token in its answer.",
    { details: { maxAgeSeconds: CONFIRMED_SECONDS } },
  );
}
