import { bluesky } from "./bluesky/index.ts";
import { facebook } from "./facebook/index.ts";
import { instagram } from "./instagram/index.ts";
import { linkedin } from "./linkedin/index.ts";
import { mastodon } from "./mastodon/index.ts";
import type { Network } from "./contract/network.ts";

/**
 * The networks by name, in the order of the specification. Everything else about them derives from this, through
 * `networks.ts`: names, accepted options, settings, quotas, the connect page, the documents, contract tests.
 */
export const NETWORKS = {
  facebook,
  instagram,
  linkedin,
  bluesky,
  mastodon,
} as const satisfies Record<string, Network>;
