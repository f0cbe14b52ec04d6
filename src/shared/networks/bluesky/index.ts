import { network } from "../contract/network.ts";
import { appPasswordForm } from "./app-password.ts";
import { clientDocuments, missingScopes } from "./client-documents.ts";
import { finish, oauthFields, start } from "./oauth-link.ts";
import { blueskyOptions } from "./options.ts";
import { prepare } from "./prepare.ts";
import { perform } from "./publish.ts";
import { find } from "./find.ts";
import { remove } from "./remove.ts";
import { check, checkFiles, measure, media, pictures, rules } from "./rules.ts";
import { freshen, revoke } from "./session.ts";
import { blueskySettings } from "./settings.ts";
import { begin, steps } from "./state.ts";

export const bluesky = network("bluesky", {
  title: "Bluesky",
  settings: blueskySettings,
  documents: clientDocuments,
  options: blueskyOptions,
  rules,
  measure,
  check,
  checkFiles,
  media,
  pictures,
  altTextMax: () => rules["bluesky.altText.shortened"].limit,
  /** Offers the network's own page first, and an app password for servers and people that don't want it. */
  link: {
    kind: "oauth",
    fields: oauthFields,
    start,
    finish,
    needsApp: true,
    alternative: appPasswordForm,
  },
  missingScopes: (scopes) => missingScopes(scopes),
  freshen: steps.account(freshen),
  revoke: steps.account(revoke),
  begin,
  calls: {
    publish: steps.publishing({ prepare, perform, find }),
    remove,
  },
});
