import { network } from "../contract/network.ts";
import { comment } from "./comment.ts";
import { linkedinLink } from "./link.ts";
import { linkedinOptions } from "./options.ts";
import { prepare } from "./prepare.ts";
import { perform } from "./publish.ts";
import { canTell, find } from "./find.ts";
import { remove } from "./remove.ts";
import { versionEnd } from "./request.ts";
import { check, checkFiles, measure, media, pictures, rules } from "./rules.ts";
import { freshen, missingScopes, revoke } from "./session.ts";
import { linkedinSettings } from "./settings.ts";
import { begin, steps } from "./state.ts";

export const linkedin = network("linkedin", {
  title: "LinkedIn",
  needsApp: true,
  hasOwnHosts: true,
  settings: linkedinSettings,
  versionEnd,
  options: linkedinOptions,
  rules,
  measure,
  check,
  checkFiles,
  media,
  pictures,
  altTextMax: () => rules["linkedin.altText.shortened"].limit,
  quotaOf: () => "posts",
  link: linkedinLink,
  missingScopes,
  freshen: steps.account(freshen),
  /** Asks the network only within a week of the token's end, since reads count against the app's daily limit. */
  accountCheck: { idleDaysMax: 0 },
  revoke: steps.account(revoke),
  begin,
  calls: {
    publish: steps.publishing({ prepare, perform, find, canTell }),
    comment,
    remove,
  },
});
