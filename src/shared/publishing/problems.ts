import type { Connection, QuotaView } from "../connections/connections.ts";
import { type LegErrorCode, endsLegs } from "../networks/contract/errors.ts";
import { boundedFailure } from "../networks/contract/bounded.ts";
import type { LegFailure } from "../networks/contract/outcome.ts";
import type { Problem, TextMeasure } from "../networks/contract/rules.ts";
import type { NetworkName } from "../networks/networks.ts";
import type { StoredFinding } from "../networks/wording.ts";

/** The findings of one network in a draft before anything is sent. */
export interface NetworkCheck {
  readonly network: NetworkName;
  readonly problems: readonly Problem[];
  readonly measure: TextMeasure | null;
  readonly connection: Connection | undefined;
  /** What is left of the account's quota. Null when there is none, or it was not read. */
  readonly quota: QuotaView | null;
  /** Set when the text was recently published to the account. `postId` is only set for a post of the same profile. */
  readonly duplicate?: { readonly postId: string | null; readonly allowedAfter: string };
}

/** A broken rule that stops a leg from being published. */
type BrokenRule = Problem & { readonly code: LegErrorCode };

export function errorsOf({ problems }: NetworkCheck): readonly BrokenRule[] {
  return problems.filter(
    (found): found is BrokenRule => found.severity === "error" && endsLegs(found.code),
  );
}

export function warningsOf({ problems }: NetworkCheck): readonly Problem[] {
  return problems.filter(({ severity }) => severity === "warning");
}

/** Why a leg failed or was skipped, as its row has it. */
export interface LegProblem extends StoredFinding<LegErrorCode> {
  readonly mediaIndex: number | null;
  readonly networkCode: string | null;
}

/** What was done to a post, or could not be done, as its row has it. */
export type LegWarning = Omit<Problem, "severity">;

/** Returns findings as a leg has them, each rule once. */
export function toLegWarnings(found: readonly Problem[]): readonly LegWarning[] {
  const warnings = found.map(({ severity: _warning, ...warning }) => warning);
  return [...new Map(warnings.map((warning) => [warning.rule, warning])).values()];
}

/** Returns a broken rule as the leg's error. */
export function toLegProblem({ severity: _error, ...found }: BrokenRule): LegProblem {
  return { ...found, networkCode: null };
}

/** Returns a failure of a call as its leg has it. */
export function problemOf(failure: LegFailure): LegProblem {
  const { code, networkCode, rule, values, field, mediaIndex } = boundedFailure(failure);
  return {
    code,
    rule: rule ?? null,
    values: values ?? {},
    field: field ?? null,
    mediaIndex: mediaIndex ?? null,
    networkCode,
  };
}
