import type { Network } from "../contract/network.ts";
import { missingScopes } from "./client.ts";
import { prepare } from "./prepare.ts";
import { mastodonLink, revoke } from "./link.ts";
import { mastodonOptions } from "./options.ts";
import { publish } from "./publish.ts";
import { reconcile } from "./reconcile.ts";
import { rules } from "./rule-table.ts";
import { check, checkFiles, measure, media } from "./rules.ts";
import { freshen } from "./session.ts";
import { begin } from "./state.ts";
import { limitsOf, mastodonAccountCheck } from "./instance.ts";

export const mastodon = {
  name: "mastodon",
  title: "Mastodon",
  options: mastodonOptions,
  link: mastodonLink,
  missingScopes,
  measure,
  media,
  altTextMax: (limits) => limitsOf(limits).altTextMax,
  rules,
  check,
  checkFiles,
  begin,
  freshen: (credentials, _instanceUrl, tools) => freshen(credentials, tools),
  accountCheck: mastodonAccountCheck,
  prepare,
  publish,
  reconcile,
  revoke: (credentials, _instanceUrl, tools) => revoke(credentials, tools),
} as const satisfies Network;
