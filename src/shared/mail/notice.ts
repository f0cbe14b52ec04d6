import type { Event } from "../events/events.ts";
import type { MailValues } from "./mail-content.ts";

/** What the owners of a platform are told unless they switch it off. Each is a kind of mail, and a field of the API. */
export const NOTICES = [
  "connectionNeedsReauth",
  "endpointDisabled",
  "balanceLow",
  "outcomeUnknown",
] as const;
export type Notice = (typeof NOTICES)[number];

/** Something that happened of which owners are told. */
export interface Happening {
  readonly notice: Notice;
  readonly values: MailValues;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** Reads a text or a number of an event's data; "" for any other value. */
function textAt(data: unknown, ...names: readonly string[]): string {
  const value = names.reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), data);
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** Returns a time as mails show it. */
export const shownTime = (at: string): string => `${at.slice(0, 16).replace("T", " ")} UTC`;

/** Returns what owners learn of an event: ids alone, since a mail outlives what is erased. Undefined for most events. */
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
