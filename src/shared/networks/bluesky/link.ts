import type { OAuthFlow } from "../contract/network.ts";
import { appPasswordForm } from "./app-password.ts";
import { finish, oauthFields, start } from "./oauth-link.ts";

/** The network's own page first; an app password for servers and people that want none of it. */
export const blueskyLink = {
  kind: "oauth",
  fields: oauthFields,
  start,
  finish,
  needsApp: true,
  alternative: appPasswordForm,
} as const satisfies OAuthFlow;
