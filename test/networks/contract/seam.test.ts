import { describe, expect, test } from "vitest";
import { LEG_ERRORS } from "../../../src/shared/networks/contract/errors.ts";
import { ERRORS as BLUESKY } from "../../../src/shared/networks/bluesky/errors.ts";
import { ERRORS as FACEBOOK } from "../../../src/shared/networks/facebook/errors.ts";
import { ERRORS as INSTAGRAM } from "../../../src/shared/networks/instagram/errors.ts";
import { ERRORS as LINKEDIN } from "../../../src/shared/networks/linkedin/errors.ts";
import { ERRORS as MASTODON } from "../../../src/shared/networks/mastodon/errors.ts";
import type { ErrorTable } from "../../../src/shared/networks/contract/answers.ts";
import { networkOf, type NetworkName } from "../../../src/shared/networks/networks.ts";
import { NETWORK_NAMES } from "../../../src/shared/networks/names.ts";
import { SETTINGS } from "../../../src/shared/config/settings.ts";

const TABLES = {
  facebook: FACEBOOK,
  instagram: INSTAGRAM,
  linkedin: LINKEDIN,
  bluesky: BLUESKY,
  mastodon: MASTODON,
} as const satisfies Record<NetworkName, ErrorTable>;

/** What the forms of the connect page carry beside a network's own fields. */
const PAGE_FIELDS = ["session", "token", "choice", "candidate", "action", "way"];

describe.each(NETWORK_NAMES)("%s", (name) => {
  const network = networkOf(name);

  test("maps its signals to codes that a leg can end with", () => {
    expect(TABLES[name].length).toBeGreaterThan(5);
    const unknown = TABLES[name].filter(({ code }) => !Object.hasOwn(LEG_ERRORS, code));
    expect(unknown).toEqual([]);
  });

  test("asks for nothing by a name that the connect page has for itself", () => {
    const { link } = network;
    const ways = link.kind === "oauth" && link.alternative ? [link, link.alternative] : [link];
    const names = ways.flatMap(({ fields }) => fields.map((field) => field.name));
    expect(names.filter((field) => PAGE_FIELDS.includes(field))).toEqual([]);
    for (const { fields } of ways)
      expect(new Set(fields.map((field) => field.name)).size).toBe(fields.length);
  });

  test("a network has its settings among those of the app, as they are", () => {
    for (const [setting, declared] of Object.entries(network.settings?.table ?? {}))
      expect(SETTINGS[setting]).toBe(declared);
  });

  test("begins the ids of its rules with its name", () => {
    const foreign = Object.keys(network.rules ?? {}).filter((id) => !id.startsWith(`${name}.`));
    expect(foreign).toEqual([]);
  });
});
