import type { LegErrorCode } from "./errors.ts";
import type { LegFailure, Rejection, TryLater } from "./outcome.ts";

/*
 * What a refusal is a fact about, how many witnesses that takes, and what ends it:
 *
 * - The call. One answer is enough, and it says nothing about other calls. Ended by another post, text or file.
 * - The account. One refused call is enough if it would have changed something, or renewed the authorization. A refused
 *   read is enough only if the answer proves that the network does not accept the authorization or the account itself
 *   (`isProof`): networks refuse single reads for days while publishing works. A permission that a read lacks is no
 *   proof. Ended by linking the account again, or by the daily check if the network accepts the account after all.
 * - The app. No single account can tell: a network may answer one account alone as if the app were refused. It takes
 *   the same answer for several accounts within minutes, with none accepted in between, and fewer of them if the answer
 *   names the app. Where several customers use the app, the accounts of one alone don't suffice. Until then, the refusal
 *   counts for its own call only. If other accounts are accepted meanwhile, and this one was not for days, it is about
 *   this account. Ended by the first account that is accepted.
 * - The server. Each answer is about its own attempt, nothing is stored, and the next attempt finds out again.
 */

/** Who has to change something before the same call can succeed. */
type Subject = "call" | "account" | "app" | "server";

const SUBJECTS: Partial<Record<LegErrorCode, Subject>> = {
  connection_needs_reauth: "account",
  permission_missing: "account",
  account_restricted: "account",
  app_misconfigured: "app",
  network_unavailable: "server",
};

/** How many accounts have to get the same answer before the app is at fault, by what the answer itself blames. */
export const APP_WITNESSES = { app: 3, other: 5 } as const;

/** Returns what a refusal is about by its own words. */
export function subjectOf({ code }: Pick<LegFailure, "code">): Subject {
  return SUBJECTS[code] ?? "call";
}

/**
 * Reports whether a refused read is a fact about the account or the app, and not only about the read. A missing
 * permission is one only for a probe, because every account in good order may make that.
 */
export function isVerdict({ isProof, failure }: Rejection, isProbe = false): boolean {
  if (isProof !== true) return false;
  if (failure.code === "permission_missing") return isProbe;
  return ["account", "app"].includes(subjectOf(failure));
}

/**
 * Returns what the refused read of a file's status means, without which a leg can't continue: it is read again, unless
 * the refusal is a verdict.
 */
export function ofRead(network: string, outcome: TryLater | Rejection): TryLater | Rejection {
  if (outcome.kind === "try_later" || isVerdict(outcome)) return outcome;
  const { networkCode, note } = outcome.failure;
  const failure = {
    code: "network_unavailable",
    networkCode,
    rule: `${network}.media.statusUnknown`,
    ...(note === undefined ? {} : { note }),
  } as const;
  return { kind: "try_later", failure };
}
