import {
  isHtml,
  noteOf,
  waitSeconds,
  type ClassifiedAnswer,
  type ErrorRow,
} from "../../../../src/shared/networks/contract/answers.ts";
import type { HttpResponse } from "../../../../src/shared/runtime/http-call.ts";

/** By the `code` of an answer, which Pinboard says with every refusal. */
const ERRORS: Readonly<Record<string, ErrorRow>> = {
  token_revoked: { code: "connection_needs_reauth", effect: "refuse" },
  not_yours: { code: "permission_missing", effect: "refuse" },
  too_fast: { code: "rate_limited", effect: "later" },
  enough_for_today: { code: "quota_exceeded", effect: "refuse" },
  seen_before: { code: "duplicate_content", effect: "refuse" },
  not_nice: { code: "content_rejected", effect: "refuse" },
};
const IN_DOUBT: ErrorRow = { code: "outcome_unknown", effect: "doubt" };
const UNKNOWN: ErrorRow = { code: "invalid_request", effect: "refuse" };

export function classify(answer: HttpResponse, now: Date): ClassifiedAnswer {
  const body = answer.json();
  const code = typeof body === "object" && body !== null && "code" in body ? String(body.code) : "";
  const row = answer.status >= 500 || isHtml(answer) ? IN_DOUBT : (ERRORS[code] ?? UNKNOWN);
  return {
    ...row,
    networkCode: code === "" ? String(answer.status) : code,
    note: noteOf(answer.text()),
    retryAfterSeconds: waitSeconds(answer, ["retry-after"], now),
  };
}
