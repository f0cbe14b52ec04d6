import { Bluesky } from "./bluesky.ts";
import { Mastodon } from "./mastodon.ts";

/** The networks of the sandbox, in the order in which the front page shows them. */
export const NETWORKS = {
  bluesky: Bluesky,
  mastodon: Mastodon,
} as const;
