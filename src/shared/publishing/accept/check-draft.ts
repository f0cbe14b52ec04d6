import type { Connection, QuotaView } from "../../connections/connection.ts";
import { LEG_ERRORS, type LegErrorCode } from "../../networks/contract/errors.ts";
import type { LegDraft, Problem, TextMeasure } from "../../networks/contract/network.ts";
import { networkOf, type NetworkName } from "../../networks/lookup.ts";
import type { Draft, LegProblem } from "../post.ts";

/** What one network says of a draft before anything is sent. */
export interface Judgement {
  readonly network: NetworkName;
  readonly problems: readonly Problem[];
  readonly measure: TextMeasure | null;
  readonly connection: Connection | undefined;
  /** What is left of the account's quota; null where there is none or it was not looked at. */
  readonly quota: QuotaView | null;
  /** Set when the text was published to the account of late. `postId` only of the same profile. */
  readonly duplicate?: { readonly postId: string | null; readonly allowedAfter: string };
}

interface Replacements {
  readonly text?: string;
  readonly mediaUrls?: readonly string[];
  readonly altTexts?: readonly (string | null)[];
}

/** The draft as one network gets it: its own options replace text, media and alt texts. */
export function legDraft(draft: Draft, network: NetworkName): LegDraft {
  const options = draft.platformOptions[network] ?? {};
  // Safe: every network's options were parsed with these shared fields.
  const own = options as Replacements;
  const urls = own.mediaUrls ?? draft.mediaUrls;
  const altTexts = own.altTexts ?? (own.mediaUrls === undefined ? draft.altTexts : []);
  return {
    text: own.text ?? draft.text,
    media: urls.map((url, index) => ({ url, altText: altTexts[index] ?? null })),
    options,
  };
}

/** An error in the words of its code. */
export function problem(code: LegErrorCode, rule: string): Problem {
  const { message, remediation } = LEG_ERRORS[code];
  return { severity: "error", code, rule, message, remediation, field: null, mediaIndex: null };
}

function connectionProblems(connection: Connection | undefined): readonly Problem[] {
  if (connection === undefined || connection.status === "revoked")
    return [problem("connection_missing", "connection.missing")];
  if (connection.status === "needs_reauth")
    return [problem("connection_needs_reauth", "connection.needs_reauth")];
  return [];
}

/** Of a network that this deployment can't publish to: not part of it, or its app is not configured. */
export function judgeUnavailable(
  network: NetworkName,
  connection: Connection | undefined,
): Judgement {
  const problems = [problem("app_misconfigured", "network.not_available")];
  return { network, problems, measure: null, connection, quota: null };
}

/**
 * Runs a network's rules on a draft; pure. `later`: only what will still hold when a scheduled post fires; what is
 * linked then is judged then.
 */
export function judgeDraft(
  draft: Draft,
  network: NetworkName,
  connection: Connection | undefined,
  when: "now" | "later" = "now",
): Judgement {
  const adapter = networkOf(network);
  const content = legDraft(draft, network);
  const limits = connection?.limits ?? {};
  return {
    network,
    problems: [
      ...(when === "now" ? connectionProblems(connection) : []),
      ...adapter.check(content, limits),
    ],
    measure: adapter.measure(content, limits),
    connection,
    quota: null,
  };
}

export function errorsOf({ problems }: Judgement): readonly Problem[] {
  return problems.filter(({ severity }) => severity === "error");
}

export function warningsOf({ problems }: Judgement): readonly Problem[] {
  return problems.filter(({ severity }) => severity === "warning");
}

export function toLegProblem(found: Problem): LegProblem {
  const { code, message, remediation, rule, mediaIndex } = found;
  return { code, message, remediation, rule, mediaIndex, networkCode: null };
}

/** One network's part of the validation result. */
export function judgementView(judgement: Judgement) {
  const { connection, measure } = judgement;
  const entry = ({ code, rule, message, remediation, field, mediaIndex }: Problem) => {
    return { code, rule, message, remediation, field, mediaIndex };
  };
  return {
    valid: errorsOf(judgement).length === 0,
    errors: errorsOf(judgement).map(entry),
    warnings: warningsOf(judgement).map(entry),
    usedCharacters: measure?.usedCharacters ?? null,
    maxCharacters: measure?.maxCharacters ?? null,
    quota: judgement.quota,
    connection: connection === undefined ? null : { id: connection.id, status: connection.status },
  };
}
