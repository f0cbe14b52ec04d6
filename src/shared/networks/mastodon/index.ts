import { network } from "../contract/network.ts";
import { missingScopes } from "./client.ts";
import { mastodonAccountCheck } from "./instance.ts";
import { limitsOf } from "./limits.ts";
import { mastodonLink, revoke } from "./link.ts";
import { mastodonOptions } from "./options.ts";
import { prepare } from "./prepare.ts";
import { perform } from "./publish.ts";
import { find } from "./find.ts";
import { remove } from "./remove.ts";
import { check, checkFiles, measure, media, rules } from "./rules.ts";
import { freshen } from "./session.ts";
import { begin, steps } from "./state.ts";

export const mastodon = network("mastodon", {
  title: "Mastodon",
  options: mastodonOptions,
  rules,
  measure,
  check,
  checkFiles,
  media,
  altTextMax: (limits) => limitsOf(limits).altTextMax,
  link: mastodonLink,
  missingScopes,
  freshen: steps.account(freshen),
  accountCheck: mastodonAccountCheck,
  revoke: steps.account(revoke),
  begin,
  calls: {
    publish: steps.publishing({ prepare, perform, find }),
    remove,
  },
});
