import { DEMO_FACEBOOK_APP, DEMO_PAGE } from "../../sandbox/facebook/state.ts";
import { DEMO_INSTAGRAM_APP } from "../../sandbox/instagram/state.ts";
import { DEMO_LINKEDIN_APP } from "../../sandbox/linkedin/state.ts";
import type { CallOptions, Reply } from "./client.ts";

type Call = (host: string | null, path: string, options?: CallOptions) => Promise<Reply>;

const CALLBACK = "http://localhost:7071/api/v1/connect/callback/network";

/** Allows an app everything that it asks for, and returns what its code is redeemed with. */
async function allowed(call: Call, path: string, client_id: string, scope: string) {
  const asked = { client_id, scope, redirect_uri: CALLBACK, response_type: "code", state: "s" };
  const page = `${path}?${new URLSearchParams(asked).toString()}`;
  const { headers } = await call(null, page, { form: { decision: "allow" } });
  const code = new URL(headers.get("location") ?? "").searchParams.get("code") ?? "";
  return { client_id, code, redirect_uri: CALLBACK, grant_type: "authorization_code" };
}

/** Returns the token of the demo page at Facebook. */
export async function pageToken(call: Call): Promise<string> {
  const scope = "pages_show_list,pages_read_engagement,pages_manage_posts,pages_manage_engagement";
  const { id, secret: client_secret } = DEMO_FACEBOOK_APP;
  const form = { ...(await allowed(call, "/v26.0/dialog/oauth", id, scope)), client_secret };
  const answer = await call("graph.facebook.com", "/v26.0/oauth/access_token", { form });
  const token = String(answer.json["access_token"]);
  const { json } = await call("graph.facebook.com", "/v26.0/me/accounts", { token });
  const pages = json["data"] as { id: string; access_token: string }[];
  return pages.find((page) => page.id === DEMO_PAGE)?.access_token ?? "";
}

/** Returns a token of the demo account at Instagram. */
export async function instagramToken(call: Call): Promise<string> {
  const scope = "instagram_business_basic,instagram_business_content_publish";
  const { id, secret: client_secret } = DEMO_INSTAGRAM_APP;
  const form = { ...(await allowed(call, "/oauth/authorize", id, scope)), client_secret };
  const { json } = await call("api.instagram.com", "/oauth/access_token", { form });
  const [given] = json["data"] as { access_token: string }[];
  return given?.access_token ?? "";
}

/** Returns a token of the demo member at LinkedIn. */
export async function linkedInToken(call: Call): Promise<string> {
  const { id, secret: client_secret } = DEMO_LINKEDIN_APP;
  const scope = "openid profile w_member_social";
  const form = {
    ...(await allowed(call, "/oauth/v2/authorization", id, scope)),
    client_secret,
  };
  const { json } = await call("www.linkedin.com", "/oauth/v2/accessToken", { form });
  return String(json["access_token"]);
}

export const LINKEDIN_HEADERS = {
  "linkedin-version": "202609",
  "x-restli-protocol-version": "2.0.0",
};

/** Logs in at the demo account's server on Bluesky. */
export async function blueskySession(call: Call): Promise<{ did: string; token: string }> {
  const json = { identifier: "demo.bsky.social", password: "demo-demo-demo-demo" };
  const reply = await call("bsky.social", "/xrpc/com.atproto.server.createSession", { json });
  return { did: String(reply.json["did"]), token: String(reply.json["accessJwt"]) };
}
