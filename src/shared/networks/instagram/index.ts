import type { Network } from "../contract/network.ts";
import { lackedExtras } from "../graph/link.ts";
import { metaWithdrawals } from "../graph/withdrawal.ts";
import { instagramLink } from "./link.ts";
import { instagramOptions } from "./options.ts";
import { prepare } from "./prepare.ts";
import { publish } from "./publish.ts";
import { reconcile } from "./reconcile.ts";
import { rules } from "./rule-table.ts";
import { check, checkFiles, measure, quotaOf, media } from "./rules.ts";
import { instagramSettings } from "./settings.ts";
import { freshen, instagramAccountCheck, postsPerDayMax } from "./session.ts";

export const instagram = {
  name: "instagram",
  title: "Instagram",
  needsApp: true,
  hasOwnHosts: true,
  settings: instagramSettings,
  options: instagramOptions,
  link: instagramLink,
  missingScopes: lackedExtras,
  withdrawals: metaWithdrawals,
  measure,
  media,
  altTextMax: () => rules["instagram.media.altText"].limit,
  quotaOf,
  quotaMaxOf: (_kind, limits) => postsPerDayMax(limits),
  rules,
  check,
  checkFiles,
  /** Instagram chooses all ids itself. */
  begin: () => ({}),
  freshen: (credentials, _instanceUrl, tools) => freshen(credentials, tools),
  accountCheck: instagramAccountCheck,
  prepare,
  publish,
  reconcile,
  /** Documented for people only: in the settings of their account, under apps and websites. */
  revoke: () => Promise.resolve(),
} as const satisfies Network;
