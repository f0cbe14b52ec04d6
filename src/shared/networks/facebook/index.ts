import { network } from "../contract/network.ts";
import { lackedExtras } from "../graph/link.ts";
import { metaWithdrawals } from "../graph/withdrawal.ts";
import { comment } from "./comment.ts";
import { facebookAccountCheck, facebookLink, revoke } from "./link.ts";
import { facebookOptions } from "./options.ts";
import { prepare } from "./prepare.ts";
import { perform } from "./publish.ts";
import { find } from "./find.ts";
import { remove } from "./remove.ts";
import { check, checkFiles, measure, media, quotaOf, rules } from "./rules.ts";
import { facebookSettings } from "./settings.ts";
import { steps } from "./state.ts";

export const facebook = network("facebook", {
  title: "Facebook",
  needsApp: true,
  hasOwnHosts: true,
  settings: facebookSettings,
  options: facebookOptions,
  rules,
  measure,
  check,
  checkFiles,
  media,
  altTextMax: () => rules["facebook.altText.shortened"].limit,
  quotaOf,
  link: facebookLink,
  missingScopes: lackedExtras,
  withdrawals: metaWithdrawals,
  /** A page's token has no end, and only a call can tell that it was revoked. */
  freshen: () => Promise.resolve({ kind: "usable" }),
  accountCheck: facebookAccountCheck,
  revoke: steps.account(revoke),
  /** Facebook chooses all ids itself. */
  begin: () => ({}),
  calls: {
    publish: steps.publishing({ prepare, perform, find }),
    comment,
    remove,
  },
});
