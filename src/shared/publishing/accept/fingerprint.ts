import { sha256Hex } from "../../runtime/secrets.ts";
import type { Draft } from "../post.ts";

const VERSION = 1;

/** JSON whose text does not depend on the order in which an object's names were written. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined && item !== null)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, item]) => [name, canonical(item)]),
  );
}

/** What makes two requests under one Idempotency-Key the same: application, profile and the parsed body. */
export function fingerprint(
  scope: { readonly applicationId: string; readonly profileId: string },
  draft: Draft,
): string {
  const { applicationId, profileId } = scope;
  return sha256Hex(JSON.stringify(canonical({ VERSION, applicationId, profileId, draft })));
}
