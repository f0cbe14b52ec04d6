import { LEG_ERRORS, type LegErrorCode } from "../networks/contract/errors.ts";
import type { LegFailure } from "../networks/contract/outcome.ts";
import type { Problem } from "../networks/contract/rules.ts";

/** Why a leg failed or was skipped, as its readers see it. */
export interface LegProblem {
  readonly code: LegErrorCode;
  readonly message: string;
  readonly remediation: string;
  readonly rule: string | null;
  readonly mediaIndex: number | null;
  readonly networkCode: string | null;
}

/** Returns what a rule found wrong as the leg's error. */
export function toLegProblem(found: Problem): LegProblem {
  const { code, message, remediation, rule, mediaIndex } = found;
  return { code, message, remediation, rule, mediaIndex, networkCode: null };
}

/** Returns a failure in the words of the contract. */
export function problemOf(failure: LegFailure): LegProblem {
  const { code, networkCode, rule, mediaIndex } = failure;
  const { message, remediation } = LEG_ERRORS[code];
  return {
    code,
    message,
    remediation: failure.remediation ?? remediation,
    rule: rule ?? null,
    mediaIndex: mediaIndex ?? null,
    networkCode,
  };
}
