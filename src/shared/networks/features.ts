import type { Network } from "./contract/network.ts";

type FollowUpName = Exclude<keyof Network["calls"], "publish">;

/** Names that customers see for the calls that follow a post. */
export const FEATURES = {
  comment: "firstComment",
  remove: "remove",
} as const satisfies Record<FollowUpName, string>;

export type Feature = (typeof FEATURES)[FollowUpName];
export const FEATURE_NAMES = Object.values(FEATURES);
