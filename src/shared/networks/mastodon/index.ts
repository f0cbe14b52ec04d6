import type { Network } from "../network.ts";
import { prepare } from "./media.ts";
import { mastodonLink, revoke } from "./oauth.ts";
import { mastodonOptions } from "./options.ts";
import { publish, reconcile } from "./publish.ts";
import { check, measure } from "./rules.ts";
import { begin } from "./state.ts";

export const mastodon = {
  name: "mastodon",
  title: "Mastodon",
  options: mastodonOptions,
  link: mastodonLink,
  measure,
  check,
  begin,
  /** Tokens last until they are revoked, and nothing tells but a call. */
  freshen: () => Promise.resolve({ kind: "usable" }),
  prepare,
  publish,
  reconcile,
  revoke: (credentials, _instanceUrl, tools) => revoke(credentials, tools),
} as const satisfies Network;
