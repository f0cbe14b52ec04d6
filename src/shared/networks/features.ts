import type { FollowUpCalls } from "./contract/network.ts";

/** Names that customers see for the calls that follow a post. */
export const FEATURES = {
  comment: "firstComment",
  remove: "remove",
} as const satisfies Record<keyof FollowUpCalls, string>;

export type Feature = (typeof FEATURES)[keyof FollowUpCalls];
export const FEATURE_NAMES = Object.values(FEATURES);
