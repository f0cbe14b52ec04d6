import type { Connection, QuotaView } from "../connections/connections.ts";
import { LEG_ERRORS, type LegErrorCode, endsLegs } from "../networks/contract/errors.ts";
import type { LegFailure } from "../networks/contract/outcome.ts";
import type { Problem, TextMeasure } from "../networks/contract/rules.ts";
import type { NetworkName } from "../networks/lookup.ts";

/** What one network finds in a draft before anything is sent. */
export interface NetworkCheck {
  readonly network: NetworkName;
  readonly problems: readonly Problem[];
  readonly measure: TextMeasure | null;
  readonly connection: Connection | undefined;
  /** What is left of the account's quota; null where there is none, or it was not read. */
  readonly quota: QuotaView | null;
  /** Set when the text was recently published to the account. `postId` is set only for a post of the same profile. */
  readonly duplicate?: { readonly postId: string | null; readonly allowedAfter: string };
}

/** A broken rule that keeps a leg from being published. */
type BrokenRule = Problem & { readonly code: LegErrorCode };

export function errorsOf({ problems }: NetworkCheck): readonly BrokenRule[] {
  return problems.filter(
    (found): found is BrokenRule => found.severity === "error" && endsLegs(found.code),
  );
}

export function warningsOf({ problems }: NetworkCheck): readonly Problem[] {
  return problems.filter(({ severity }) => severity === "warning");
}

/** Why a leg failed or was skipped, as its readers see it. */
export interface LegProblem {
  readonly code: LegErrorCode;
  readonly message: string;
  readonly remediation: string;
  readonly rule: string | null;
  readonly mediaIndex: number | null;
  readonly networkCode: string | null;
}

/** What is said of a leg that is published, though not quite as it was given. */
export interface LegWarning {
  readonly code: string;
  readonly message: string;
}

/** Returns warnings as the leg's readers see them, by their own codes or their rules, and each of them once. */
export function toLegWarnings(found: readonly Problem[]): readonly LegWarning[] {
  const warnings = found.map(({ code, rule, message }) => {
    return { code: endsLegs(code) ? rule : code, message };
  });
  return [...new Map(warnings.map((warning) => [JSON.stringify(warning), warning])).values()];
}

/** Returns a broken rule as the leg's error. */
export function toLegProblem(found: BrokenRule): LegProblem {
  const { code, message, remediation, rule, mediaIndex } = found;
  return { code, message, remediation, rule, mediaIndex, networkCode: null };
}

export function problemOf(failure: LegFailure): LegProblem {
  const { code, networkCode, rule, mediaIndex } = failure;
  const { message, remediation } = LEG_ERRORS[code];
  return {
    code,
    message: failure.message ?? message,
    remediation: failure.remediation ?? remediation,
    rule: rule ?? null,
    mediaIndex: mediaIndex ?? null,
    networkCode,
  };
}
