import type { Network } from "../network.ts";
import { instagramLink } from "./link.ts";
import { instagramOptions } from "./options.ts";
import { prepare } from "./prepare.ts";
import { publish, reconcile } from "./publish.ts";
import { check, measure, quotaOf } from "./rules.ts";
import { freshen } from "./token.ts";

export const instagram = {
  name: "instagram",
  title: "Instagram",
  needsApp: true,
  options: instagramOptions,
  link: instagramLink,
  measure,
  quotaOf,
  check,
  /** Instagram chooses all ids itself. */
  begin: () => ({}),
  freshen: (credentials, _instanceUrl, tools) => freshen(credentials, tools),
  prepare,
  publish,
  reconcile,
  /** Documented for people only: in the settings of their account, under apps and websites. */
  revoke: () => Promise.resolve(),
} as const satisfies Network;
