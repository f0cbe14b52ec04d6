import type { FollowUp, LegToPublish } from "../../src/shared/networks/contract/visible-call.ts";

/** Returns a call that follows the post of a leg. */
export function followUpOf(
  { isUnpublished: _isUnpublished, ...leg }: LegToPublish,
  externalId: string,
  overrides: Partial<FollowUp> = {},
): FollowUp {
  return {
    ...leg,
    key: "call-1",
    externalId,
    text: null,
    sentAt: null,
    isRefused: false,
    ...overrides,
  };
}
