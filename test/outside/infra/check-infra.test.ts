import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { installedBicep } from "../../../infra/tools/bicep.ts";
import { checkBroken } from "./broken-infra.ts";

const COMPILE_MS_MAX = 180_000;

// Downloads nothing: `npm run check:infra` leaves the compiler on a machine that has the .NET SDK. The long check breaks
// the templates in more ways.
test.skipIf(installedBicep() === undefined)(
  "the check of the templates finds a property that no resource has",
  async () => {
    const problems = await checkBroken([
      "modules/identity.bicep",
      "location: location",
      "region: location",
    ]);
    expect(problems.join("\n")).toContain("BCP037");
  },
  COMPILE_MS_MAX,
);

describe("where no compiler can be had", () => {
  const check = (...args: readonly string[]) =>
    spawnSync(process.execPath, [resolve("infra/tools/check-infra.ts"), ...args], {
      env: { PATH: "", NUGET_PACKAGES: resolve("nobody/keeps/packages/here") },
      encoding: "utf8",
    });

  test("the check says so and lets everything else go on", () => {
    const { status, stdout } = check();
    expect(stdout).toContain("The templates were not checked: no Bicep compiler");
    expect(status).toBe(0);
  });

  test("the check fails where it was to check something", () => {
    expect(check("--required").status).toBe(1);
  });
});
