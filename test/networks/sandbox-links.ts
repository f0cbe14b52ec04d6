import { DEMO_FACEBOOK_APP } from "../../sandbox/facebook/state.ts";
import { DEMO_INSTAGRAM_APP } from "../../sandbox/instagram/state.ts";
import { DEMO_LINKEDIN_APP, DEMO_LINKEDIN_ORG_APP } from "../../sandbox/linkedin/state.ts";
import type { Sandbox } from "../../sandbox/server.ts";
import type { NetworkName } from "../../src/shared/networks/networks.ts";
import type { LinkedAccount } from "../../src/shared/networks/contract/link.ts";
import type { NetworkApp } from "../../src/shared/networks/contract/settings.ts";
import type { NetworkTools } from "../../src/shared/networks/contract/tools.ts";
import { signIn } from "../setup/sign-in.ts";
import { type SandboxTools, sandboxTools } from "./sandbox-leg.ts";

const APPS: Partial<Record<NetworkName, NetworkApp>> = {
  facebook: {
    ...DEMO_FACEBOOK_APP,
    version: "v26.0",
    extraScopes: ["pages_manage_engagement", "pages_read_user_content"],
  },
  instagram: {
    ...DEMO_INSTAGRAM_APP,
    version: "v26.0",
    extraScopes: ["instagram_business_manage_comments"],
  },
  linkedin: {
    ...DEMO_LINKEDIN_APP,
    version: "202609",
    organizations: DEMO_LINKEDIN_ORG_APP,
    extraScopes: [
      "w_member_social_feed",
      "w_organization_social_feed",
      "r_organization_social_feed",
    ],
  },
};

/** What the connect page's form says, and what the person then does on the network's own page. */
const FORMS: Partial<Record<NetworkName, Readonly<Record<string, string>>>> = {
  bluesky: { identifier: "demo.bsky.social", appPassword: "demo-demo-demo-demo" },
  mastodon: { instance: "@demo@mastodon.sandbox.test" },
  linkedin: { kind: "member" },
};

export interface SandboxLink {
  readonly linked: LinkedAccount;
  readonly tools: SandboxTools;
}

/** What the person decides on the network's own page, and where the browser is led then. */
export async function decideAt(
  page: string,
  tools: NetworkTools,
  form: Readonly<Record<string, string>> = {},
): Promise<URL> {
  const decided = await tools.http({
    method: "POST",
    url: page,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ decision: "allow", ...form }).toString(),
  });
  return new URL(decided.headers["location"] ?? "");
}

/** The demo account of a network, linked by the network's own steps. */
export async function linkDemoAccount(
  sandbox: Sandbox,
  name: NetworkName,
  form: Readonly<Record<string, string>> = FORMS[name] ?? {},
): Promise<SandboxLink> {
  const tools = sandboxTools(sandbox, APPS[name]);
  const decide = (page: string) => decideAt(page, tools);
  const outcome = await signIn(name, form, { tools, decide });
  if (outcome.kind !== "linked") throw new Error(`not linked: ${JSON.stringify(outcome)}`);
  return { linked: outcome.linked, tools };
}
