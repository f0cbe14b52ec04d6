import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { exchange, idShape, oauthError } from "../contract/answers.ts";
import { spare } from "../contract/fields.ts";
import { postForm, readCode } from "../contract/oauth.ts";
import {
  type Account,
  type LinkErrorCode,
  type LinkFailure,
  type LinkOutcome,
  type LinkRestart,
  type OAuthCallback,
  type OAuthFlow,
  type OAuthRedirect,
  type OAuthStart,
  linkFailed,
  serverCallback,
} from "../contract/link.ts";
import type { NetworkData } from "../contract/draft.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import { readServer } from "../contract/text.ts";
import { COARSE_SCOPES, discover, findClient, refused } from "./client.ts";
import { classify } from "./errors.ts";
import { findServer } from "./find-server.ts";
import { pageOf, vouchedHandle } from "./handle.ts";
import { findInstance } from "./instance.ts";
import { canPublish, readToken, requestToken, type IssuedToken } from "./session.ts";
import { findSoftware, traitsOf } from "./software.ts";
import { credentialsOf, requestHeaders } from "./state.ts";

const flowShape = shape(() =>
  z.object({
    origin: z.string(),
    domain: z.string(),
    clientId: z.string(),
    clientSecret: z.string(),
    scope: z.string(),
    hasPkce: z.boolean(),
    limits: z.record(z.string(), z.unknown()),
    isHidden: z.boolean().optional(),
  }),
);
type Flow = ShapeOf<typeof flowShape>;

export const mastodonLink = {
  kind: "oauth",
  hasServers: true,
  fields: [
    {
      name: "instance",
      label: "Your server",
      hint: "The address of your Mastodon server, or your full handle such as @alice@mastodon.social",
      secret: false,
      placeholder: "mastodon.social",
      autocomplete: "off",
    },
  ],
  start,
  finish,
} as const satisfies OAuthFlow;

async function start(
  form: Readonly<Record<string, string>>,
  oauth: OAuthStart,
  tools: NetworkTools,
): Promise<OAuthRedirect | LinkFailure> {
  const typed = readServer(form["instance"] ?? "");
  if (typed === undefined) return linkFailed("input_invalid");
  const instance = await findServer(typed, tools);
  if ("code" in instance) return instance;
  const server = await discover(instance.origin, form["scopes"] === COARSE_SCOPES, tools);
  const redirectUri = serverCallback(oauth.redirectUri, instance.origin);
  const client = await findClient(server, redirectUri, tools);
  if ("code" in client) return client;
  const query = new URLSearchParams({
    response_type: "code",
    client_id: client.clientId,
    redirect_uri: redirectUri,
    scope: server.scope,
    state: oauth.state,
    force_login: "true",
    ...(server.hasPkce
      ? { code_challenge: oauth.codeChallenge, code_challenge_method: "S256" }
      : {}),
  });
  const flow: Flow = {
    origin: instance.origin,
    domain: instance.domain,
    clientId: client.clientId,
    clientSecret: client.clientSecret,
    scope: server.scope,
    hasPkce: server.hasPkce,
    limits: { ...instance.limits },
    ...(instance.isHidden === true && { isHidden: true }),
  };
  const url = `${instance.origin}/oauth/authorize?${query.toString()}`;
  return { kind: "redirect", url, flow, server: instance.origin };
}

async function finish(
  callback: OAuthCallback,
  tools: NetworkTools,
): Promise<LinkOutcome | LinkRestart> {
  const flow = flowShape().parse(callback.flow);
  // The server has coarser scopes and does not list them.
  if (callback.params["error"] === "invalid_scope" && flow.scope !== COARSE_SCOPES)
    return { kind: "restart", form: { instance: flow.origin, scopes: COARSE_SCOPES } };
  // Anybody can send this address an error: it ends this authorisation and changes nothing that others share.
  const code = readCode(callback.params, CALLBACK_ERRORS);
  if (typeof code !== "string") return code;
  const answer = await requestToken(flow, tools, {
    grant_type: "authorization_code",
    code,
    redirect_uri: serverCallback(callback.redirectUri, flow.origin),
    ...(flow.hasPkce ? { code_verifier: callback.codeVerifier } : {}),
  });
  if (answer instanceof HttpFailure) return linkFailed("instance_unreachable", answer.message);
  const token = readToken(answer, flow.scope, tools.now());
  if (token === undefined) return refusedToken(answer, flow, tools);
  if (!canPublish(token.scopes)) return linkFailed("permission_missing", token.scopes.join(" "));
  return linkAccount(token, flow, tools);
}

const CALLBACK_ERRORS: Readonly<Record<string, LinkErrorCode>> = {
  invalid_scope: "instance_unsupported",
  unsupported_response_type: "instance_unsupported",
};

async function refusedToken(
  answer: HttpResponse,
  flow: Flow,
  tools: NetworkTools,
): Promise<LinkFailure> {
  const error = oauthError(answer);
  if (error === "invalid_client") {
    await forget(flow, tools);
    return linkFailed("network_unavailable", error);
  }
  return error === "invalid_grant" ? linkFailed("access_denied", error) : refused(answer);
}

/**
 * Forgets a registration that the server says it does not know, so that the next link registers anew. A registration
 * made since this authorisation began stays.
 */
async function forget({ origin, clientId }: Flow, tools: NetworkTools): Promise<void> {
  const { host } = new URL(origin);
  const kept = await tools.hosts.find(host);
  if (kept?.["clientId"] === clientId) await tools.hosts.forget(host);
}

async function linkAccount(
  token: IssuedToken,
  flow: Flow,
  tools: NetworkTools,
): Promise<LinkOutcome> {
  const answer = await exchange(tools, {
    method: "GET",
    url: `${flow.origin}/api/v1/accounts/verify_credentials`,
    headers: requestHeaders(token),
  });
  if (answer instanceof HttpFailure) return linkFailed("instance_unreachable", answer.message);
  const found = readAccount(answer, flow);
  if (found === undefined) return refusedAccount(answer, tools.now());
  const claim = { origin: flow.origin, username: found.username, domain: flow.domain };
  const { origin, clientId, clientSecret } = flow;
  const [username, software, hidden] = await Promise.all([
    vouchedHandle(claim, tools),
    findSoftware(origin, tools),
    flow.isHidden === true ? findInstance(origin, tools, token.accessToken) : undefined,
  ]);
  const account = { ...found, username };
  const { scopes, endsAt, ...issued } = token;
  const isRead = hidden !== undefined && !("code" in hidden);
  const limits = isRead ? { ...hidden.limits } : flow.limits;
  const { mixesFiles, needsMedia } = traitsOf(software);
  return {
    kind: "linked",
    linked: {
      account,
      credentials: {
        origin,
        ...issued,
        clientId,
        clientSecret,
        ...(typeof software === "string" ? { software } : {}),
      },
      instanceUrl: origin,
      scopes,
      limits: { ...limits, mixesFiles, needsMedia },
      expiresAt: issued.refreshToken === undefined ? endsAt : null,
    },
  };
}

/** Returns the account, named without a domain. */
function readAccount(answer: HttpResponse, flow: Flow): Account | undefined {
  const shape = z.object({
    id: idShape(),
    username: z.string(),
    display_name: spare(z.string()),
    avatar: spare(z.url()),
    url: spare(z.url()),
    bot: spare(z.boolean()),
  });
  const parsed = shape.safeParse(answer.json());
  if (answer.status !== 200 || !parsed.success) return undefined;
  const { id, username, display_name, avatar, url, bot } = parsed.data;
  return {
    id: `${new URL(flow.origin).host}/${id}`,
    username,
    displayName: display_name?.trim() || username,
    avatarUrl: avatar ?? null,
    url: pageOf(flow.origin, username, url ?? null),
    kind: bot === true ? "bot" : "person",
  };
}

function refusedAccount(answer: HttpResponse, now: Date): LinkFailure {
  const { code, note } = classify(answer, now);
  if (code === "account_restricted" || code === "permission_missing") return linkFailed(code, note);
  if (code === "connection_needs_reauth") return linkFailed("access_denied", note);
  return refused(answer);
}

export async function revoke(data: NetworkData, tools: NetworkTools): Promise<void> {
  const { origin, accessToken, clientId, clientSecret } = credentialsOf(data);
  const fields = { client_id: clientId, client_secret: clientSecret, token: accessToken };
  await postForm(`${origin}/oauth/revoke`, fields, tools);
}
