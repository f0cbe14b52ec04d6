import { network } from "../contract/network.ts";
import { lackedExtras } from "../graph/link.ts";
import { metaWithdrawals } from "../graph/withdrawal.ts";
import { comment } from "./comment.ts";
import { instagramLink } from "./link.ts";
import { instagramOptions } from "./options.ts";
import { prepare } from "./prepare.ts";
import { perform } from "./publish.ts";
import { find } from "./find.ts";
import { check, checkFiles, measure, media, pictures, quotaOf, rules } from "./rules.ts";
import { freshen, instagramAccountCheck, postsPerDayMax } from "./session.ts";
import { instagramSettings } from "./settings.ts";
import { steps } from "./state.ts";

export const instagram = network("instagram", {
  title: "Instagram",
  needsApp: true,
  hasOwnHosts: true,
  settings: instagramSettings,
  options: instagramOptions,
  rules,
  measure,
  check,
  checkFiles,
  media,
  pictures,
  altTextMax: () => rules["instagram.altText.shortened"].limit,
  quotaOf,
  quotaMaxOf: (_kind, limits) => postsPerDayMax(limits),
  link: instagramLink,
  missingScopes: lackedExtras,
  withdrawals: metaWithdrawals,
  freshen: steps.account(freshen),
  accountCheck: instagramAccountCheck,
  /** Only people can do this, in the settings of their account under apps and websites. */
  revoke: () => Promise.resolve(),
  /** Instagram chooses all ids itself. */
  begin: () => ({}),
  calls: {
    publish: steps.publishing({ prepare, perform, find }),
    comment,
  },
});
