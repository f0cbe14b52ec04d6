import type { Network } from "../contract/network.ts";
import { prepare } from "./prepare.ts";
import { mastodonLink, revoke } from "./link.ts";
import { mastodonOptions } from "./options.ts";
import { publish } from "./publish.ts";
import { reconcile } from "./reconcile.ts";
import { rules } from "./rule-table.ts";
import { check, judgeFiles, measure, media } from "./rules.ts";
import { begin } from "./state.ts";
import { mastodonUpkeep } from "./instance.ts";

export const mastodon = {
  name: "mastodon",
  title: "Mastodon",
  options: mastodonOptions,
  link: mastodonLink,
  measure,
  media,
  rules,
  check,
  judgeFiles,
  begin,
  /** Tokens last until they are revoked, and nothing tells but a call. */
  freshen: () => Promise.resolve({ kind: "usable" }),
  upkeep: mastodonUpkeep,
  prepare,
  publish,
  reconcile,
  revoke: (credentials, _instanceUrl, tools) => revoke(credentials, tools),
} as const satisfies Network;
