import type { Network } from "../../../../src/shared/networks/contract/network.ts";
import { pinboardLink } from "./link.ts";
import { pinboardOptions } from "./options.ts";
import { publish } from "./publish.ts";
import { reconcile } from "./reconcile.ts";
import { rules } from "./rule-table.ts";
import { check, measure } from "./rules.ts";
import { pinboardSettings } from "./settings.ts";

/** A network that there is not: what a sixth one takes. */
export const pinboard = {
  name: "pinboard",
  title: "Pinboard",
  settings: pinboardSettings,
  options: pinboardOptions,
  link: pinboardLink,
  measure,
  quotaOf: () => "pins",
  rules,
  check,
  /** The leg's own key is all that Pinboard wants. */
  begin: () => ({}),
  freshen: () => Promise.resolve({ kind: "usable" }),
  prepare: ({ remote }) => Promise.resolve({ kind: "ready", remote }),
  publish,
  reconcile,
  revoke: () => Promise.resolve(),
} as const satisfies Network;
