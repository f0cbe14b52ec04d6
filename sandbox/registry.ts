import { Bluesky } from "./bluesky.ts";
import { Facebook } from "./facebook.ts";
import { Instagram } from "./instagram.ts";
import { LinkedIn } from "./linkedin.ts";
import { Mastodon } from "./mastodon.ts";

/**
 * The networks of the sandbox, in the order in which the front page shows them. A browser's page that two of them have
 * (`/oauth/authorize`) goes to the first that claims it: Mastodon knows its clients, Instagram takes the rest.
 */
export const NETWORKS = {
  bluesky: Bluesky,
  mastodon: Mastodon,
  facebook: Facebook,
  instagram: Instagram,
  linkedin: LinkedIn,
} as const;
