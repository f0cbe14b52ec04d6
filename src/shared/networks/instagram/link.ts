import * as z from "zod";
import { shape } from "../../runtime/shape.ts";
import { exchange, idShape } from "../contract/answers.ts";
import { scopesShape, spare } from "../contract/fields.ts";
import { lacking, refusedLink } from "../contract/oauth.ts";
import { readCallback, readStep, redirect } from "../graph/link.ts";
import { graphGet } from "../graph/request.ts";
import {
  type Account,
  type LinkFailure,
  type LinkOutcome,
  type OAuthCallback,
  type OAuthFlow,
  linkFailed,
} from "../contract/link.ts";
import { type NetworkTools, appOf } from "../contract/tools.ts";
import { type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import { ACCOUNT_KIND, classify } from "./errors.ts";
import { type Credentials, accessOf } from "./state.ts";
import { SCOPES, readToken, tokenUrl, readLimits, scopedIdShape } from "./session.ts";

/** The documents write them in capitals and otherwise. */
const KINDS: Readonly<Record<string, string>> = {
  BUSINESS: "business",
  MEDIA_CREATOR: "creator",
  CREATOR: "creator",
  // No such account can be published to.
  PERSONAL: "personal",
};

const SITE = "https://www.instagram.com";

export const instagramLink = {
  kind: "oauth",
  fields: [],
  origins: [SITE],
  start(_form, oauth, tools) {
    const app = appOf(tools);
    return redirect(`${SITE}/oauth/authorize`, {
      client_id: app.id,
      redirect_uri: oauth.redirectUri,
      response_type: "code",
      scope: [...SCOPES, ...(app.extraScopes ?? [])].join(","),
      state: oauth.state,
    });
  },
  finish,
} as const satisfies OAuthFlow;

async function finish(callback: OAuthCallback, tools: NetworkTools): Promise<LinkOutcome> {
  const code = readCallback(callback.params);
  if (typeof code !== "string") return code;
  const granted = await exchangeCode(code, callback.redirectUri, tools);
  if ("kind" in granted) return granted;
  const missing = lacking(SCOPES, granted.scopes);
  if (missing !== undefined) return missing;
  const token = await longLivedToken(granted.token, tools);
  if ("kind" in token) return token;
  const found = await readAccount(token.accessToken, tools);
  if ("code" in found) return found;
  const { account, scopedId } = found;
  const credentials: Credentials = {
    userId: account.id,
    authVariant: "instagram_login",
    ...token,
  };
  const limits = await readLimits(credentials, tools);
  return {
    kind: "linked",
    linked: {
      account,
      credentials,
      instanceUrl: null,
      scopes: granted.scopes,
      limits: limits.kind === "read" ? limits.limits : {},
      expiresAt: token.expiresAt,
      ...(scopedId === undefined ? {} : { grantId: scopedId }),
    },
  };
}

interface Granted {
  readonly token: string;
  readonly scopes: readonly string[];
}

const grantShape = shape(() =>
  z.object({
    access_token: z.string().min(1),
    permissions: scopesShape(),
  }),
);
/** Returns the shape of an answer that is documented with a list around it, and seen without. */
function listedOrNot<Of extends z.ZodType>(one: Of) {
  const listed = z.object({ data: z.tuple([z.unknown()], z.unknown()) });
  return z.preprocess((body) => listed.safeParse(body).data?.data[0] ?? body, one);
}

async function exchangeCode(
  code: string,
  redirectUri: string,
  tools: NetworkTools,
): Promise<Granted | LinkFailure> {
  const { id, secret } = appOf(tools);
  const request = {
    method: "POST",
    url: "https://api.instagram.com/oauth/access_token",
    headers: { "content-type": "application/x-www-form-urlencoded", "accept-language": "en" },
    body: new URLSearchParams({
      client_id: id,
      client_secret: secret,
      grant_type: "authorization_code",
      redirect_uri: redirectUri,
      code,
    }).toString(),
  } as const;
  const grant = await readStep(
    { request, shape: listedOrNot(grantShape()), refuse: refusedCode },
    tools,
  );
  if ("kind" in grant) return grant;
  const { access_token: token, permissions } = grant;
  // RFC 6749, section 5.1: no list in the answer means what was asked for. The extras are left out, as nothing tells.
  return { token, scopes: permissions ?? SCOPES };
}

/** Returns the failure of a refused code. This host has an envelope of its own. */
function refusedCode(answer: HttpResponse): LinkFailure {
  const shape = z.object({ error_message: z.string() });
  const message = shape.safeParse(answer.json()).data?.error_message ?? "";
  const note = `HTTP ${answer.status} ${message}`;
  if (answer.status === 429) return linkFailed("rate_limited", note);
  if (/\b(?:business|professional|personal)\b/i.test(message))
    return linkFailed("account_kind_unsupported", note);
  const isOfCode = answer.status < 500 && /\bcode\b/i.test(message) && !/redirect/i.test(message);
  return linkFailed(isOfCode ? "access_denied" : "network_unavailable", note);
}

async function longLivedToken(
  token: string,
  tools: NetworkTools,
): Promise<Pick<Credentials, "accessToken" | "issuedAt" | "expiresAt"> | LinkFailure> {
  const url = tokenUrl("access_token", {
    grant_type: "ig_exchange_token",
    client_secret: appOf(tools).secret,
    access_token: token,
  });
  const answer = await exchange(tools, { method: "GET", url });
  if (answer instanceof HttpFailure) return linkFailed("network_unavailable", answer.message);
  const issued = readToken(answer, tools.now());
  if (issued === undefined) return refused(answer, tools);
  const { lacked: _checked, ...parts } = issued;
  return parts;
}

interface Found {
  readonly account: Account;
  /** By which the app alone knows the account: what a withdrawal names. */
  readonly scopedId: string | undefined;
}

async function readAccount(accessToken: string, tools: NetworkTools): Promise<Found | LinkFailure> {
  const fields = "id,user_id,username,name,profile_picture_url,account_type";
  const access = accessOf({ accessToken }, tools);
  const shape = listedOrNot(
    z.object({
      id: scopedIdShape(),
      user_id: idShape().pipe(z.string().regex(/^\d+$/)),
      username: z.string().min(1),
      name: spare(z.string()),
      profile_picture_url: spare(z.url()),
      account_type: spare(z.string()),
    }),
  );
  const request = graphGet(access, "me", { fields });
  const refuse = (answer: HttpResponse) => refused(answer, tools);
  const found = await readStep({ request, shape, refuse }, tools);
  if ("kind" in found) return found;
  const { id: scopedId, user_id: id, username, name, profile_picture_url, account_type } = found;
  // A word that nobody knows says nothing: only professional accounts can log in.
  const kind = KINDS[account_type?.toUpperCase() ?? ""] ?? "professional";
  if (kind === "personal") return linkFailed("account_kind_unsupported", account_type);
  const account = {
    id,
    username,
    displayName: name?.trim() || username,
    avatarUrl: profile_picture_url ?? null,
    url: `https://www.instagram.com/${username}/`,
    kind,
  };
  return { account, scopedId };
}

function refused(answer: HttpResponse, tools: NetworkTools): LinkFailure {
  const classified = classify(answer, tools.now());
  return classified.rule === ACCOUNT_KIND
    ? linkFailed("account_kind_unsupported", classified.note)
    : refusedLink(classified);
}
