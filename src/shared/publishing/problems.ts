import type { Connection, QuotaView } from "../connections/connections.ts";
import { LEG_ERRORS, type LegErrorCode, endsLegs } from "../networks/contract/errors.ts";
import { boundedFailure } from "../networks/contract/bounded.ts";
import type { Network } from "../networks/contract/network.ts";
import type { LegFailure } from "../networks/contract/outcome.ts";
import type { Problem, TextMeasure } from "../networks/contract/rules.ts";
import type { NetworkName } from "../networks/networks.ts";

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

/** Why a leg failed or was skipped, as its readers see it. */
export interface LegProblem {
  readonly code: LegErrorCode;
  readonly message: string;
  readonly remediation: string;
  readonly rule: string | null;
  readonly mediaIndex: number | null;
  readonly networkCode: string | null;
}

/** A warning about a leg that was published, but not exactly as it was given. */
export type LegWarning = Pick<Problem, "code" | "rule" | "message">;

/** Returns warnings as the leg's readers see them, each rule once. */
export function toLegWarnings(found: readonly Problem[]): readonly LegWarning[] {
  const warnings = found.map(({ code, rule, message }) => ({ code, rule, message }));
  return [...new Map(warnings.map((warning) => [warning.rule, warning])).values()];
}

/** Returns a broken rule as the leg's error. */
export function toLegProblem(found: BrokenRule): LegProblem {
  const { code, message, remediation, rule, mediaIndex } = found;
  return { code, message, remediation, rule, mediaIndex, networkCode: null };
}

/** Texts for a call where those of `LEG_ERRORS`, which are about publishing, would be wrong. */
const WORDS: Readonly<
  Record<
    keyof Network["calls"],
    Partial<Record<LegErrorCode, Pick<LegProblem, "message" | "remediation">>>
  >
> = {
  publish: {},
  comment: {
    canceled: {
      message: "The post was to be removed before its first comment was written.",
      remediation: "Nothing to do: the comment would be gone too.",
    },
    network_unavailable: {
      message: "The network did not take the first comment in time; it was not written.",
      remediation: "Write the comment manually.",
    },
    outcome_unknown: {
      message: "The network did not confirm the first comment, so it may be there.",
      remediation: "Check the post, and write the comment manually if it isn't there.",
    },
    permission_missing: {
      message: "The account was linked without the permission that comments need.",
      remediation: "Reconnect the account and grant all requested permissions.",
    },
  },
  remove: {
    connection_missing: {
      message: "The account that published the post is no longer linked.",
      remediation: "Link the account that published the post, then remove the post again.",
    },
    connection_needs_reauth: {
      message: "The network no longer accepts the stored authorisation of this account.",
      remediation: "Reconnect the account on the connect page, then remove the post again.",
    },
    feature_unsupported: {
      message: "The network can't remove this post for the relay.",
      remediation: "Remove it by hand.",
    },
    network_unavailable: {
      message: "The network did not confirm the removal within an hour.",
      remediation: "Check the post. If it is still there, remove it again.",
    },
    outcome_unknown: {
      message: "It is unknown whether the post is live, so it could not be removed.",
      remediation: "Check the account, and remove the post manually if it is there.",
    },
    permission_missing: {
      message: "The account was linked without the permission to remove posts.",
      remediation: "Reconnect the account, grant every permission, then remove the post again.",
    },
    internal_error: {
      message: "Removing the post failed for a reason on our side.",
      remediation: "Remove it again. If that fails too, contact support with the post's id.",
    },
  },
};

/** Returns a failure of a call as its readers see it. */
export function problemOf(
  failure: LegFailure,
  kind: keyof Network["calls"] = "publish",
): LegProblem {
  const { code, networkCode, rule, mediaIndex, ...own } = boundedFailure(failure);
  const { message, remediation } = WORDS[kind][code] ?? LEG_ERRORS[code];
  return {
    code,
    message: own.message ?? message,
    remediation: own.remediation ?? remediation,
    rule: rule ?? null,
    mediaIndex: mediaIndex ?? null,
    networkCode,
  };
}
