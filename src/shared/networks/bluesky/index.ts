import type { Network } from "../network.ts";
import { blueskyLink } from "./link.ts";
import { blueskyOptions } from "./options.ts";
import { prepare } from "./prepare.ts";
import { publish, reconcile } from "./publish.ts";
import { begin } from "./remote.ts";
import { check, measure } from "./rules.ts";
import { freshen, revoke } from "./session.ts";

export const bluesky = {
  name: "bluesky",
  title: "Bluesky",
  options: blueskyOptions,
  link: blueskyLink,
  measure,
  check,
  begin,
  freshen: (credentials, _instanceUrl, tools) => freshen(credentials, tools),
  prepare,
  publish,
  reconcile,
  revoke: (credentials, _instanceUrl, tools) => revoke(credentials, tools),
} as const satisfies Network;
