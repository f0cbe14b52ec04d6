import type { Connection } from "../../connections/connections.ts";
import { LEG_ERRORS, type LegErrorCode } from "../../networks/contract/errors.ts";
import type { Problem } from "../../networks/contract/rules.ts";
import { withDocUrl } from "../../runtime/doc-url.ts";
import { networkOf, type NetworkName } from "../../networks/lookup.ts";
import { errorsOf, warningsOf, type NetworkCheck } from "../problems.ts";
import { legDraft, type Draft } from "../post.ts";

/** Returns an error with the message of its code. */
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

/** Returns the check of a network that this build lacks, or whose app is not configured. */
export function checkUnavailable(
  network: NetworkName,
  connection: Connection | undefined,
): NetworkCheck {
  const problems = [problem("app_misconfigured", "network.not_available")];
  return { network, problems, measure: null, connection, quota: null };
}

/**
 * Runs a network's rules on a draft; pure. `later`: leaves out the connection, which is checked when the post starts.
 */
export function checkDraft(
  draft: Draft,
  network: NetworkName,
  connection: Connection | undefined,
  when: "now" | "later" = "now",
): NetworkCheck {
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

/** Returns a network's findings as callers see them. `baseUrl`: the relay's own, where the codes are explained. */
export function checkView(check: NetworkCheck, baseUrl: string) {
  const { connection, measure } = check;
  const entry = ({ code, rule, message, remediation, field, mediaIndex }: Problem) => {
    const found = { code, rule, message, remediation, field, mediaIndex };
    return withDocUrl(found, baseUrl);
  };
  return {
    valid: errorsOf(check).length === 0,
    errors: errorsOf(check).map(entry),
    warnings: warningsOf(check).map(entry),
    usedCharacters: measure?.usedCharacters ?? null,
    maxCharacters: measure?.maxCharacters ?? null,
    quota: check.quota,
    connection: connection === undefined ? null : { id: connection.id, status: connection.status },
  };
}
