import type { Network } from "../contract/network.ts";
import { lackedExtras } from "../graph/link.ts";
import { metaWithdrawals } from "../graph/withdrawal.ts";
import { facebookLink, revoke, facebookAccountCheck } from "./link.ts";
import { facebookOptions } from "./options.ts";
import { prepare } from "./prepare.ts";
import { publish } from "./publish.ts";
import { reconcile } from "./reconcile.ts";
import { rules } from "./rule-table.ts";
import { check, checkFiles, measure, quotaOf, media } from "./rules.ts";
import { facebookSettings } from "./settings.ts";

export const facebook = {
  name: "facebook",
  title: "Facebook",
  needsApp: true,
  hasOwnHosts: true,
  settings: facebookSettings,
  options: facebookOptions,
  link: facebookLink,
  missingScopes: lackedExtras,
  withdrawals: metaWithdrawals,
  measure,
  media,
  altTextMax: () => rules["facebook.media.altTextLength"].limit,
  quotaOf,
  rules,
  check,
  checkFiles,
  /** Facebook chooses all ids itself. */
  begin: () => ({}),
  /** A page's token has no end, and nothing tells that it was taken back but a call. */
  freshen: () => Promise.resolve({ kind: "usable" }),
  accountCheck: facebookAccountCheck,
  prepare,
  publish,
  reconcile,
  revoke: (credentials, _instanceUrl, tools) => revoke(credentials, tools),
} as const satisfies Network;
