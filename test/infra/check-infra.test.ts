import { expect, test } from "vitest";
import { installedBicep } from "../../dev/bicep.ts";
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
