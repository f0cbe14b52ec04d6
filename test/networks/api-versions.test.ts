import { describe, expect, test } from "vitest";
import { parseConfig } from "../../src/shared/config/config.ts";
import { createLog } from "../../src/shared/runtime/log.ts";
import { warnOfApiVersions } from "../../src/shared/background/walks.ts";
import { buildServices } from "../../src/shared/compose.ts";

const LINKEDIN = {
  LINKEDIN_CLIENT_ID: "86example0member",
  LINKEDIN_CLIENT_SECRET: "example-secret",
  LINKEDIN_VERSION: "202609",
};

async function linesOn(day: string, settings: Readonly<Record<string, string>> = LINKEDIN) {
  const lines: string[] = [];
  const config = parseConfig({
    AZURE_FUNCTIONS_ENVIRONMENT: "Development",
    AzureWebJobsStorage: "UseDevelopmentStorage=true",
    ...settings,
  });
  const services = buildServices(config, {
    clock: { now: () => new Date(`${day}T03:30:00.000Z`) },
    log: createLog({ level: "info", sink: (_level, line) => lines.push(line) }),
  });
  await warnOfApiVersions(services.background);
  await services.connections.outbound.close();
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe("the look at the versions of networks' APIs", () => {
  test.each([
    ["says nothing while a version lives for more than 60 days", "2027-07-02", 0],
    ["warns from 60 days before its year is over", "2027-07-04", 1],
    ["goes on to warn when it is over", "2028-01-01", 1],
  ])("the look at the versions of networks' APIs: %s", async (_name, day, warnings) => {
    const lines = await linesOn(day);
    expect(lines).toHaveLength(warnings);
    for (const line of lines)
      expect(line).toMatchObject({
        level: "warn",
        message: "network API version ends soon",
        network: "linkedin",
        version: "202609",
        endsAt: "2027-09-01T00:00:00.000Z",
      });
  });

  test("says nothing of a network that is not configured", async () => {
    expect(await linesOn("2028-01-01", {})).toEqual([]);
  });
});
