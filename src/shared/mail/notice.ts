import { isRecord } from "../runtime/is-record.ts";
import type { Event } from "../events/events.ts";
import type { MailValues } from "./mail-content.ts";

/** The notices that owners get by mail unless they switch them off. Each is a kind of mail and a field of the API. */
export const NOTICES = [
  "connectionNeedsReauth",
  "endpointDisabled",
  "balanceLow",
  "outcomeUnknown",
] as const;
export type OwnerNotice = (typeof NOTICES)[number];

/** An incident that owners are notified of. */
export interface Happening {
  readonly notice: OwnerNotice;
  readonly values: MailValues;
}

/** Reads a text or a number from an event's data, or "" for any other value. */
function textAt(data: unknown, ...names: readonly string[]): string {
  const value = names.reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), data);
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** Formats a time for a mail. */
export const shownTime = (at: string): string => `${at.slice(0, 16).replace("T", " ")} UTC`;

/** Returns what a mail says about an event, if anything: only ids, since a mail outlives data that is erased. */
export function happeningOf(event: Event): Happening | undefined {
  const { type, data, createdAt, profileId, postId } = event;
  const at = shownTime(createdAt);
  const profile = profileId ?? "";
  switch (type) {
    case "connection.needs_reauth": {
      const network = textAt(data, "connection", "platform");
      const connection = textAt(data, "connection", "id");
      return { notice: "connectionNeedsReauth", values: { at, network, profile, connection } };
    }
    case "billing.balance_low":
      return {
        notice: "balanceLow",
        values: { at, available: textAt(data, "balance", "available") },
      };
    case "leg.failed": {
      if (textAt(data, "leg", "error", "code") !== "outcome_unknown") return undefined;
      const network = textAt(data, "leg", "platform");
      return { notice: "outcomeUnknown", values: { at, network, post: postId ?? "", profile } };
    }
    default:
      return undefined;
  }
}
