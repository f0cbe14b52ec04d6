import { describe, expect, test } from "vitest";
import { installedBicep } from "../../dev/bicep.ts";
import { checkBroken, type Break } from "../infra/broken-infra.ts";

const COMPILE_MS_MAX = 300_000;

const REFUSED: readonly (readonly [what: string, broken: Break, rule: string])[] = [
  [
    "what a strict rule refuses",
    ["modules/workbook.bicep", "@2023-06-01", "@2022-04-01"],
    "use-recent-api-versions",
  ],
  [
    "a name that a deployment alone can tell",
    ["modules/key-vault.bicep", "vault.id, identityName", "vault.id, principalId"],
    "what-if-short-circuiting",
  ],
  ["a value of another type", ["small.bicepparam", "size = 'small'", "size = 'tiny'"], "BCP033"],
];

describe.skipIf(installedBicep() === undefined)("the check of the templates", () => {
  test.each(REFUSED)(
    "finds %s",
    async (_what, broken, rule) => {
      expect((await checkBroken(broken)).join("\n")).toContain(rule);
    },
    COMPILE_MS_MAX,
  );

  test(
    "finds a snapshot that is not current, and a file that is not formatted",
    async () => {
      const [snapshot, format, ...others] = await checkBroken(
        ["large.snapshot.json", '"Standard_GZRS"', '"Standard_ZRS"'],
        ["modules/identity.bicep", "name: name", "name:    name"],
      );
      expect(snapshot).toMatch(/^large\.snapshot\.json is not current/);
      expect(format).toBe("modules/identity.bicep is not formatted");
      expect(others).toEqual([]);
    },
    COMPILE_MS_MAX,
  );
});
