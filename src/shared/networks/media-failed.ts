import { failureOf, unpublished } from "./classified.ts";
import type { MediaFailure } from "./media.ts";
import type { Rejected, TryLater } from "./network.ts";

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

/** A file that breaks one of the network's rules, found out before it was sent there. */
export function mediaRejected(rule: string, note: string, mediaIndex?: number): Rejected {
  const row = { code: "media_rejected", effect: "refuse", rule } as const;
  return {
    kind: "rejected",
    failure: failureOf({ ...row, networkCode: null, note, retryAfterSeconds: null }, mediaIndex),
  };
}
