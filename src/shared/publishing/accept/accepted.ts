import { sha256Hex } from "../../runtime/secrets.ts";
import { textOf, type Row } from "../../runtime/storage/row.ts";

export const IDEMPOTENCY_ROWS = "I|";

/** Where an Idempotency-Key of the platform is kept; hashed, for the key may hold what a row key may not. */
export function idempotencyRowKey(idempotencyKey: string): string {
  return IDEMPOTENCY_ROWS + sha256Hex(idempotencyKey);
}

/** What an Idempotency-Key stands for once a post was accepted under it. */
export interface Accepted {
  readonly fingerprint: string;
  readonly postId: string;
  readonly profileId: string;
  readonly httpStatus: number;
}

export function toAccepted(row: Row): Accepted {
  return {
    fingerprint: textOf(row, "fingerprint"),
    postId: textOf(row, "postId"),
    profileId: textOf(row, "profileId"),
    httpStatus: Number(row["httpStatus"]),
  };
}
