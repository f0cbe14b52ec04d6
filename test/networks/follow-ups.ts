import type { FollowUp, LegToPublish } from "../../src/shared/networks/contract/network.ts";

/** Returns a call that follows the post of a leg. */
export function followUpOf(
  { account, credentials, instanceUrl, limits, remote }: LegToPublish,
  externalId: string,
  overrides: Partial<FollowUp> = {},
): FollowUp {
  return {
    key: "call-1",
    leg: { account, credentials, instanceUrl, limits, remote, externalId },
    text: null,
    sentAt: null,
    state: {},
    ...overrides,
  };
}
