import { failureOf, unpublished } from "./classified.ts";
import { noteOfFile, refusalOf } from "./judge-file.ts";
import type { MediaFacts, MediaFailure, MediaTargets } from "./media.ts";
import type { Rejected, TryLater } from "./network.ts";
import type { Rule, RuleTable } from "./rule.ts";

/** A file of the draft that could not be had, or not be made to fit: what may be otherwise later is tried again. */
export function mediaFailed(
  network: string,
  { code, reason, message }: MediaFailure,
  mediaIndex?: number,
): TryLater | Rejected {
  return code === "media_rejected"
    ? mediaRejected(`${network}.media.${reason ?? "size"}`, message, mediaIndex)
    : unpublished(
        {
          code,
          effect: "later",
          networkCode: null,
          note: message.slice(0, 500),
          retryAfterSeconds: null,
        },
        mediaIndex,
      );
}

/** A file that the network does not take, as far as is known before it is sent there; undefined where it may. */
export function refusedFile(
  network: string,
  file: MediaFacts,
  targets: MediaTargets,
  mediaIndex?: number,
): Rejected | undefined {
  const reason = refusalOf(file, targets);
  if (reason === undefined) return undefined;
  return mediaRejected(`${network}.media.${reason}`, noteOfFile(file), mediaIndex);
}

/** A leg that breaks one of the network's rules for its files together, found out before anything was sent. */
export function rejectedBy<Table extends RuleTable>(
  table: Table,
  rule: keyof Table & string,
  note: string,
  mediaIndex?: number,
): Rejected {
  // Safe: the id is a key of the table.
  const { code } = table[rule] as Rule;
  const row = { code, effect: "refuse", rule } as const;
  return {
    kind: "rejected",
    failure: failureOf({ ...row, networkCode: null, note, retryAfterSeconds: null }, mediaIndex),
  };
}

/** A file that breaks one of the network's rules, found out before it was sent there. */
export function mediaRejected(rule: string, note: string, mediaIndex?: number): Rejected {
  const row = { code: "media_rejected", effect: "refuse", rule } as const;
  return {
    kind: "rejected",
    failure: failureOf({ ...row, networkCode: null, note, retryAfterSeconds: null }, mediaIndex),
  };
}
