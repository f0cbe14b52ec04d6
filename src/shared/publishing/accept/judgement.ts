import type { Connection, QuotaView } from "../../connections/connection.ts";
import type { Problem, TextMeasure } from "../../networks/contract/rules.ts";
import type { NetworkName } from "../../networks/lookup.ts";

/** What one network says of a draft before anything is sent. */
export interface NetworkCheck {
  readonly network: NetworkName;
  readonly problems: readonly Problem[];
  readonly measure: TextMeasure | null;
  readonly connection: Connection | undefined;
  /** What is left of the account's quota; null where there is none or it was not looked at. */
  readonly quota: QuotaView | null;
  /** Set when the text was published to the account of late. `postId` only of the same profile. */
  readonly duplicate?: { readonly postId: string | null; readonly allowedAfter: string };
}

export function errorsOf({ problems }: NetworkCheck): readonly Problem[] {
  return problems.filter(({ severity }) => severity === "error");
}

export function warningsOf({ problems }: NetworkCheck): readonly Problem[] {
  return problems.filter(({ severity }) => severity === "warning");
}
