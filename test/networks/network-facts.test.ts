import { describe, expect, test } from "vitest";
import { parseConfig } from "../../src/shared/config/config.ts";
import { fetchPageCard } from "../../src/shared/networks/bluesky/link-card.ts";
import { facebook } from "../../src/shared/networks/facebook/index.ts";
import { instagram } from "../../src/shared/networks/instagram/index.ts";
import type { AccountCheck } from "../../src/shared/networks/contract/network.ts";
import { credentials, GRAPH, tools as facebookTools } from "./facebook-script.ts";
import { answer, lost, NOW, scriptedTools } from "./scripted-tools.ts";

const account = {
  id: "42",
  username: "bakery",
  displayName: "Bakery",
  avatarUrl: null,
  url: "https://www.facebook.com/bakery",
  kind: "page",
};

describe("what people are asked for at Facebook", () => {
  const settings = (values: Readonly<Record<string, string>>) => {
    const required = { AzureWebJobsStorage: "UseDevelopmentStorage=true" };
    const app = { FACEBOOK_APP_ID: "app-1", FACEBOOK_APP_SECRET: "secret-1" };
    const local = { AZURE_FUNCTIONS_ENVIRONMENT: "Development" };
    const { networkApps } = parseConfig({ ...local, ...required, ...app, ...values });
    return networkApps.facebook ?? { id: "", secret: "", version: "" };
  };
  const asked = async (values: Readonly<Record<string, string>>) => {
    const oauth = { redirectUri: "https://relay.example", state: "s", codeChallenge: "c" };
    const used = scriptedTools({ app: settings(values) });
    const started = await facebook.link.start({}, oauth, used);
    if (started.kind === "failed") throw new Error(started.code);
    const { searchParams } = new URL(started.url);
    return { scope: searchParams.get("scope"), config: searchParams.get("config_id") };
  };

  test("what people are asked for at Facebook is a list, with what finds pages of businesses", async () => {
    const { scope, config } = await asked({});
    expect(scope?.split(",")).toContain("business_management");
    expect(config).toBeNull();
  });

  test("leaves out what Meta has not approved the app for", async () => {
    const { scope } = await asked({ FACEBOOK_BUSINESS_MANAGEMENT: "false" });
    expect(scope).toBe("pages_show_list,pages_read_engagement,pages_manage_posts");
  });

  test("what people are asked for at Facebook is a configuration of Facebook Login for Business instead of a list", async () => {
    const found = await asked({ FACEBOOK_LOGIN_CONFIG_ID: "1234567890" });
    expect(found).toEqual({ scope: null, config: "1234567890" });
  });
});

describe("the check of an account doubts", () => {
  const unix = (days: number) => Math.floor(NOW.getTime() / 1000) + days * 86_400;
  const DEBUG = `GET ${GRAPH}/debug_token`;

  test.each([
    ["nothing while the app may read the person's data", unix(1), undefined],
    ["nothing where there is no such end", 0, undefined],
    ["what follows when that has ended", unix(-1), ["data_access_expired"]],
  ])("the check of an account doubts: %s", async (_what, endsAt, doubts) => {
    const used = facebookTools({
      http: { [DEBUG]: answer(200, { data: { data_access_expires_at: endsAt } }) },
    });
    const check: AccountCheck = facebook.accountCheck;
    const outcome = await check.readLimits?.({ account, credentials, instanceUrl: null }, used);
    expect(outcome).toEqual({ kind: "read", limits: {}, ...(doubts && { doubts }) });
  });

  test.each([lost, answer(500, ""), answer(200, "ok")])("nothing unread (%#)", async (reply) => {
    const used = facebookTools({ http: { [DEBUG]: reply } });
    const checked = { account, credentials, instanceUrl: null };
    const check: AccountCheck = facebook.accountCheck;
    const outcome = await check.readLimits?.(checked, used);
    expect(outcome).toEqual({ kind: "read", limits: {} });
  });

  test.each([
    [2, 50, undefined],
    [100, 100, undefined],
    [2, 25, ["quota_total"]],
    [51, 50, ["quota_usage"]],
  ])("Instagram's quota: %s used of %s", async (quota_usage, quota_total, doubts) => {
    const app = { id: "app", secret: "secret", version: "v26.0" };
    const used = scriptedTools({
      app,
      http: {
        "GET https://graph.instagram.com/v26.0/17/content_publishing_limit": answer(200, {
          data: [{ quota_usage, config: { quota_total } }],
        }),
      },
    });
    const at = NOW.toISOString();
    const own = { userId: "17", accessToken: "t", authVariant: "instagram_login" };
    const checked = {
      account,
      credentials: { ...own, issuedAt: at, expiresAt: at },
      instanceUrl: null,
    };
    expect(await instagram.accountCheck.readLimits?.(checked, used)).toEqual({
      kind: "read",
      limits: { postsPerDayMax: quota_total },
      ...(doubts && { doubts }),
    });
  });
});

test("pages behind links are asked as the setting says", async () => {
  const agents: (string | undefined)[] = [];
  for (const linkReader of [undefined, "CardReader/1.0 (+https://relay.example)"]) {
    const service = { name: "Relay", url: "https://relay.example" };
    const used = scriptedTools({
      service: linkReader === undefined ? service : { ...service, linkReader },
      http: { "GET https://example.com/post": answer(404, "") },
    });
    await fetchPageCard("https://example.com/post", used);
    agents.push(used.calls[0]?.headers?.["user-agent"]);
  }
  expect(agents).toEqual([undefined, "CardReader/1.0 (+https://relay.example)"]);
});
