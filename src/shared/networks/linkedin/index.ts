import type { Network } from "../network.ts";
import { linkedinLink } from "./oauth.ts";
import { linkedinOptions } from "./options.ts";
import { prepare } from "./prepare.ts";
import { publish, reconcile } from "./publish.ts";
import { check, measure } from "./rules.ts";
import { freshen, revoke } from "./session.ts";
import { begin } from "./state.ts";

export const linkedin = {
  name: "linkedin",
  title: "LinkedIn",
  needsApp: true,
  options: linkedinOptions,
  link: linkedinLink,
  measure,
  quotaOf: () => "posts",
  check,
  begin,
  freshen: (credentials, _instanceUrl, tools) => freshen(credentials, tools),
  prepare,
  publish,
  reconcile,
  revoke: (credentials, _instanceUrl, tools) => revoke(credentials, tools),
} as const satisfies Network;
