import { describe, expect, test } from "vitest";
import { parseConfig } from "../../src/shared/config/config.ts";
import { renderConnectPage } from "../../src/shared/connections/hosted-page/connect-page.ts";
import { linkedin } from "../../src/shared/networks/linkedin/index.ts";
import { findAvailable } from "../../src/shared/networks/networks.ts";
import { aCard, aPage } from "../outside/browser/gallery.ts";

const development = {
  AzureWebJobsStorage: "UseDevelopmentStorage=true",
  AZURE_FUNCTIONS_ENVIRONMENT: "Development",
};
const member = { LINKEDIN_CLIENT_ID: "member-app", LINKEDIN_CLIENT_SECRET: "member-secret" };
const organization = {
  LINKEDIN_ORG_CLIENT_ID: "org-app",
  LINKEDIN_ORG_CLIENT_SECRET: "org-secret",
};
const appsOf = (settings: Readonly<Record<string, string>>) =>
  parseConfig({ ...development, ...settings }).networkApps;

describe("LinkedIn's apps", () => {
  test("make it available, or not", () => {
    expect(findAvailable("linkedin", appsOf({}))).toBeUndefined();
    expect(findAvailable("linkedin", appsOf(member))?.name).toBe(linkedin.name);
  });

  test("LinkedIn's apps are read with the version of the API", () => {
    const app = { id: "member-app", secret: "member-secret", version: "202609" };
    expect(appsOf(member).linkedin).toEqual(app);
    expect(appsOf({ ...member, ...organization, LINKEDIN_VERSION: "202701" }).linkedin).toEqual({
      ...app,
      version: "202701",
      organizations: { id: "org-app", secret: "org-secret" },
    });
  });

  test.each([
    [
      { LINKEDIN_CLIENT_ID: "a" },
      "LINKEDIN_CLIENT_ID, LINKEDIN_CLIENT_SECRET: must be given both or neither",
    ],
    [
      { ...member, LINKEDIN_ORG_CLIENT_SECRET: "s" },
      "LINKEDIN_ORG_CLIENT_ID, LINKEDIN_ORG_CLIENT_SECRET: must be given both or neither",
    ],
    [organization, "LINKEDIN_CLIENT_ID: must be given"],
    [{ ...member, LINKEDIN_VERSION: "202613" }, "LINKEDIN_VERSION: must be a month"],
  ])("LinkedIn's apps that are set up by half are refused (%#)", (settings, message) => {
    expect(() => appsOf(settings)).toThrow(message);
  });
});

test("the form's kinds of account can be chosen from, with what was chosen before", () => {
  const typed = { kind: "organization" };
  const problem = { problem: "access_denied", way: "first", typed } as const;
  const text = renderConnectPage(aPage({ cards: [aCard("linkedin", { problem })] }), "nonce");
  const options = [...text.matchAll(/<option value="(\w+)"([^>]*)>/g)].map((found) =>
    found.slice(1),
  );
  expect(options).toEqual([
    ["member", expect.not.stringContaining("selected")],
    ["organization", expect.stringContaining("selected")],
  ]);
  expect(text).toContain('<label for="linkedin-kind">');
  expect(text).toContain('<select id="linkedin-kind" name="kind"');
});
