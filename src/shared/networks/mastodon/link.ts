import * as z from "zod";
import type { HttpResponse } from "../../runtime/http-call.ts";
import { idShape, oauthError } from "../contract/answers.ts";
import { inForm } from "../contract/ask.ts";
import { lenient } from "../contract/fields.ts";
import { linkFailed, serverCallback } from "../contract/link.ts";
import type { Account, LinkErrorCode, LinkFailure, LinkOutcome } from "../contract/link.ts";
import type { OAuthCallback, OAuthFlow } from "../contract/link.ts";
import { finishCode, isLinkFailure, linkStep, postForm } from "../contract/oauth.ts";
import { readCode, type OAuthReturn } from "../contract/oauth.ts";
import { readerOf } from "../contract/state.ts";
import { readServer } from "../contract/text.ts";
import { COARSE_SCOPES, discover, findClient, refused, UNREACHABLE } from "./client.ts";
import { classify } from "./errors.ts";
import { findServer } from "./find-server.ts";
import { pageOf, vouchedHandle } from "./handle.ts";
import { findInstance } from "./instance.ts";
import { canPublish, type IssuedToken, readToken, tokenRequest } from "./session.ts";
import { postTraits } from "./servers.ts";
import { findSoftware } from "./software.ts";
import { apiGet, type AsAccount } from "./state.ts";

const flowOf = readerOf(() => ({
  origin: z.string(),
  domain: z.string(),
  clientId: z.string(),
  clientSecret: z.string(),
  scope: z.string(),
  hasPkce: z.boolean(),
  limits: z.record(z.string(), z.unknown()),
  isHidden: z.boolean().optional(),
}));
type Flow = ReturnType<typeof flowOf>;

/** Servers with many active accounts that anybody may join, or that a country or a trade uses. */
const LARGE_SERVERS = [
  "mastodon.social",
  "mastodon.online",
  "mastodon.world",
  "mstdn.social",
  "mas.to",
  "techhub.social",
  "hachyderm.io",
  "infosec.exchange",
  "fosstodon.org",
  "mastodonapp.uk",
  "mstdn.ca",
  "troet.cafe",
  "piaille.fr",
  "masto.es",
  "mastodon.com.br",
  "mstdn.jp",
] as const;

export const mastodonLink = {
  kind: "oauth",
  hasServers: true,
  fields: [
    {
      name: "instance",
      label: "Your server",
      hint: "The address of your Mastodon server, or your full handle such as @alice@mastodon.social",
      placeholder: "mastodon.social",
      suggestions: LARGE_SERVERS,
      known: ({ instanceUrl }) => (instanceUrl === null ? "" : new URL(instanceUrl).host),
    },
  ],
  async start(form, oauth, tools) {
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
    const { origin, domain, limits, isHidden } = instance;
    const { clientId, clientSecret } = client;
    const { scope, hasPkce } = server;
    const asked = { origin, domain, clientId, clientSecret, scope, hasPkce, limits: { ...limits } };
    const flow: Flow = { ...asked, ...(isHidden === true && { isHidden }) };
    const url = `${origin}/oauth/authorize?${query.toString()}`;
    return { kind: "redirect", url, flow, server: origin };
  },
  finish: finishCode({ flowOf, codeOf, redeem, lacking, link: linkAccount }),
} as const satisfies OAuthFlow;

function codeOf({ params }: OAuthCallback, flow: Flow) {
  // The server has coarser scopes and doesn't list them.
  if (params["error"] === "invalid_scope" && flow.scope !== COARSE_SCOPES)
    return { kind: "restart", form: { instance: flow.origin, scopes: COARSE_SCOPES } } as const;
  // Anybody can send an error to this address. It ends this authorization, and changes nothing shared.
  return readCode(params, CALLBACK_ERRORS);
}

function redeem({
  code,
  callback,
  flow,
  tools,
}: OAuthReturn<Flow>): Promise<IssuedToken | LinkFailure> {
  const request = tokenRequest(flow, {
    grant_type: "authorization_code",
    code,
    redirect_uri: serverCallback(callback.redirectUri, flow.origin),
    code_verifier: flow.hasPkce ? callback.codeVerifier : undefined,
  });
  const read = (answer: HttpResponse) => readToken(answer, flow.scope, tools.now());
  const refuse = (answer: HttpResponse) => refusedToken(answer, tools.now());
  return linkStep({ request, read, refuse, unreachable: UNREACHABLE }, tools);
}

function lacking({ scopes }: IssuedToken): LinkFailure | undefined {
  return canPublish(scopes) ? undefined : linkFailed("permission_missing", scopes.join(" "));
}

const CALLBACK_ERRORS: Readonly<Record<string, LinkErrorCode>> = {
  // Our app is registered again at each server that no longer knows it: no operator can do anything.
  invalid_client: "network_unavailable",
  invalid_request: "network_unavailable",
  unauthorized_client: "network_unavailable",
  invalid_scope: "instance_unsupported",
  unsupported_response_type: "instance_unsupported",
};

const TOKEN_ERRORS: Readonly<Record<string, LinkErrorCode>> = {
  // The registration was deleted since; the next link finds that out, and registers again.
  invalid_client: "network_unavailable",
  invalid_grant: "access_denied",
};

function refusedToken(answer: HttpResponse, now: Date): LinkFailure {
  const error = oauthError(answer);
  const known = error === undefined ? undefined : TOKEN_ERRORS[error];
  if (known !== undefined) return linkFailed(known, error);
  const { code, note } = classify(answer, now);
  if (code === "account_restricted") return linkFailed(code, note);
  // Pleroma says "Invalid credentials" of a code that it no longer accepts.
  return code === "connection_needs_reauth" ? linkFailed("access_denied", note) : refused(answer);
}

async function linkAccount(
  token: IssuedToken,
  { flow, tools }: OAuthReturn<Flow>,
): Promise<LinkOutcome> {
  const { origin, clientId, clientSecret } = flow;
  const { accessToken } = token;
  const request = apiGet({ origin, accessToken }, "accounts/verify_credentials");
  const read = (answer: HttpResponse) => readAccount(answer, flow);
  const refuse = (answer: HttpResponse) => refusedAccount(answer, tools.now());
  const found = await linkStep({ request, read, refuse, unreachable: UNREACHABLE }, tools);
  if (isLinkFailure(found)) return found;
  const [username, software, hidden] = await Promise.all([
    vouchedHandle({ origin, username: found.username, domain: flow.domain }, tools),
    findSoftware(origin, tools),
    flow.isHidden === true ? findInstance(origin, tools, accessToken) : undefined,
  ]);
  const { scopes, endsAt, ...issued } = token;
  const known = typeof software === "string" ? { software } : {};
  const limits = hidden !== undefined && "limits" in hidden ? hidden.limits : flow.limits;
  return {
    kind: "linked",
    linked: {
      account: { ...found, username },
      credentials: { origin, ...issued, clientId, clientSecret, ...known },
      instanceUrl: origin,
      scopes,
      limits: { ...limits, ...postTraits(software) },
      expiresAt: issued.refreshToken === undefined ? endsAt : null,
    },
  };
}

const accountShape = () =>
  z.object({
    id: idShape(),
    username: z.string(),
    display_name: lenient(z.string()),
    avatar: lenient(z.url()),
    url: lenient(z.url()),
    bot: lenient(z.boolean()),
  });

function readAccount(answer: HttpResponse, flow: Flow): Account | undefined {
  const found = inForm(accountShape)(answer);
  if (found === undefined) return undefined;
  const { id, username, display_name, avatar, url, bot } = found;
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
  // Nobody has taken the token back: the server issued it just now, such as one whose front takes the header away
  // (https://github.com/akirk/enable-mastodon-apps/issues/127).
  if (code === "connection_needs_reauth") return linkFailed("instance_unsupported", note);
  return refused(answer);
}

export async function revoke({ credentials, tools }: AsAccount): Promise<void> {
  const { origin, accessToken, clientId, clientSecret } = credentials;
  const fields = { client_id: clientId, client_secret: clientSecret, token: accessToken };
  await postForm(`${origin}/oauth/revoke`, fields, tools);
}
