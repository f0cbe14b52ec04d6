import type { Network } from "../contract/network.ts";
import { linkedinLink } from "./link.ts";
import { linkedinOptions } from "./options.ts";
import { prepare } from "./prepare.ts";
import { publish } from "./publish.ts";
import { canTell, reconcile } from "./reconcile.ts";
import { rules } from "./rule-table.ts";
import { check, checkFiles, measure, media } from "./rules.ts";
import { freshen, revoke } from "./session.ts";
import { linkedinSettings } from "./settings.ts";
import { begin } from "./state.ts";
import { versionEnd } from "./request.ts";

export const linkedin = {
  name: "linkedin",
  title: "LinkedIn",
  needsApp: true,
  hasOwnHosts: true,
  settings: linkedinSettings,
  versionEnd,
  options: linkedinOptions,
  link: linkedinLink,
  measure,
  media,
  altTextMax: () => rules["linkedin.media.altText"].limit,
  quotaOf: () => "posts",
  rules,
  check,
  checkFiles,
  begin,
  freshen: (credentials, _instanceUrl, tools) => freshen(credentials, tools),
  /** Asks the network only within a week of the token's end: a read of the member counts against the app's day. */
  accountCheck: { idleDaysMax: 0 },
  prepare,
  publish,
  reconcile,
  canTell,
  revoke: (credentials, _instanceUrl, tools) => revoke(credentials, tools),
} as const satisfies Network;
