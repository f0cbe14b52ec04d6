import type { Network } from "../contract/network.ts";
import { clientDocuments, missingScopes } from "./client-documents.ts";
import type { OAuthFlow } from "../contract/link.ts";
import { appPasswordForm } from "./app-password.ts";
import { finish, oauthFields, start } from "./oauth-link.ts";
import { blueskyOptions } from "./options.ts";
import { prepare } from "./prepare.ts";
import { publish } from "./publish.ts";
import { reconcile } from "./reconcile.ts";
import { begin } from "./state.ts";
import { rules } from "./rule-table.ts";
import { check, checkFiles, measure, media } from "./rules.ts";
import { blueskySettings } from "./settings.ts";
import { freshen, revoke } from "./session.ts";

/** Offers the network's own page first, and an app password to servers and people that want none of it. */
const blueskyLink = {
  kind: "oauth",
  fields: oauthFields,
  start,
  finish,
  needsApp: true,
  alternative: appPasswordForm,
} as const satisfies OAuthFlow;

export const bluesky = {
  name: "bluesky",
  title: "Bluesky",
  settings: blueskySettings,
  documents: clientDocuments,
  options: blueskyOptions,
  link: blueskyLink,
  missingScopes,
  measure,
  media,
  altTextMax: () => rules["bluesky.media.altText"].limit,
  rules,
  check,
  checkFiles,
  begin,
  freshen: (credentials, _instanceUrl, tools) => freshen(credentials, tools),
  prepare,
  publish,
  reconcile,
  revoke: (credentials, _instanceUrl, tools) => revoke(credentials, tools),
} as const satisfies Network;
