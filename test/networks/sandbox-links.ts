import { createHash } from "node:crypto";
import { DEMO_FACEBOOK_APP } from "../../dev/networks/facebook/state.ts";
import { DEMO_INSTAGRAM_APP } from "../../dev/networks/instagram/state.ts";
import { DEMO_LINKEDIN_APP, DEMO_LINKEDIN_ORG_APP } from "../../dev/networks/linkedin/state.ts";
import type { Sandbox } from "../../dev/networks/server.ts";
import { bluesky } from "../../src/shared/networks/bluesky/index.ts";
import type { NetworkName } from "../../src/shared/networks/lookup.ts";
import { networkOf } from "../../src/shared/networks/lookup.ts";
import type { LinkedAccount, NetworkApp } from "../../src/shared/networks/network.ts";
import type { SandboxTools } from "./sandbox-leg.ts";
import { sandboxTools } from "./sandbox-leg.ts";

const APPS: Partial<Record<NetworkName, NetworkApp>> = {
  facebook: { ...DEMO_FACEBOOK_APP, version: "v26.0" },
  instagram: { ...DEMO_INSTAGRAM_APP, version: "v26.0" },
  linkedin: { ...DEMO_LINKEDIN_APP, version: "202609", organizations: DEMO_LINKEDIN_ORG_APP },
};

/** What the connect page's form says, and what the person then does on the network's own page. */
const FORMS: Partial<Record<NetworkName, Readonly<Record<string, string>>>> = {
  mastodon: { instance: "@demo@mastodon.sandbox.test" },
  linkedin: { kind: "member" },
};

export interface SandboxLink {
  readonly linked: LinkedAccount;
  readonly tools: SandboxTools;
}

/** The demo account of a network, linked by the network's own steps. */
export async function linkDemoAccount(
  sandbox: Sandbox,
  name: NetworkName,
  form = FORMS[name] ?? {},
): Promise<SandboxLink> {
  const tools = sandboxTools(sandbox, APPS[name]);
  const outcome = name === "bluesky" ? await signIn(tools) : await authorize(name, form, tools);
  if (outcome.kind !== "linked") throw new Error(`not linked: ${JSON.stringify(outcome)}`);
  return { linked: outcome.linked, tools };
}

function signIn(tools: SandboxTools) {
  const form = { identifier: "demo.bsky.social", appPassword: "demo-demo-demo-demo" };
  return bluesky.link.alternative.signIn(form, tools);
}

async function authorize(
  name: NetworkName,
  form: Readonly<Record<string, string>>,
  tools: SandboxTools,
) {
  const { link } = networkOf(name);
  if (link.kind !== "oauth") throw new Error(`${name} has no page of its own`);
  const codeVerifier = "verifier".repeat(8);
  const redirectUri = `https://relay.example/v1/connect/callback/${name}`;
  const codeChallenge = createHash("sha256").update(codeVerifier).digest("base64url");
  const oauth = { redirectUri, state: "state-1", codeChallenge };
  const started = await link.start(form, oauth, tools);
  if (started.kind === "failed") return started;
  const decided = await tools.http({
    method: "POST",
    url: started.url,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: "decision=allow",
  });
  const params = Object.fromEntries(new URL(decided.headers["location"] ?? "").searchParams);
  const callback = { params, codeVerifier, redirectUri, flow: started.flow };
  const outcome = await link.finish(callback, tools);
  if (outcome.kind !== "choose") return outcome;
  const [first] = outcome.candidates;
  if (first === undefined || link.choose === undefined) throw new Error("nothing to choose from");
  return link.choose(first.id, outcome.flow, tools);
}
