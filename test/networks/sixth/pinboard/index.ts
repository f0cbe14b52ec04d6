import { network } from "../../../../src/shared/networks/contract/network.ts";
import { pinboardLink } from "./link.ts";
import { pinboardOptions } from "./options.ts";
import { perform } from "./publish.ts";
import { find } from "./find.ts";
import { check, measure, rules } from "./rules.ts";
import { pinboardSettings } from "./settings.ts";

/** A network that there is not: what a sixth one takes. */
export const pinboard = network("pinboard", {
  title: "Pinboard",
  settings: pinboardSettings,
  options: pinboardOptions,
  rules,
  measure,
  check,
  quotaOf: () => "pins",
  link: pinboardLink,
  freshen: () => Promise.resolve({ kind: "usable" }),
  revoke: () => Promise.resolve(),
  /** The leg's own key is all that Pinboard wants. */
  begin: () => ({}),
  calls: {
    publish: {
      prepare: ({ remote }) => Promise.resolve({ kind: "ready", remote }),
      perform,
      find,
    },
  },
});
