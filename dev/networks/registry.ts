import { Bluesky } from "./bluesky.ts";
import { Facebook } from "./facebook.ts";
import { Mastodon } from "./mastodon.ts";

/** The networks of the sandbox, in the order in which the front page shows them. */
export const NETWORKS = {
  bluesky: Bluesky,
  mastodon: Mastodon,
  facebook: Facebook,
} as const;
