import * as z from "zod";
import type { HttpResponse } from "../../runtime/http-call.ts";
import { idShape } from "../contract/answers.ts";
import { inForm } from "../contract/ask.ts";
import { objectShape, scopesShape, lenient } from "../contract/fields.ts";
import { linkFailed } from "../contract/link.ts";
import type { LinkFailure, LinkOutcome, OAuthFlow } from "../contract/link.ts";
import { finishCode, formRequest, isLinkFailure, lacking } from "../contract/oauth.ts";
import { linkStep, redirectTo, refusedLink, type OAuthReturn } from "../contract/oauth.ts";
import { appOf, type NetworkTools } from "../contract/tools.ts";
import { readCallback } from "../graph/link.ts";
import { graphGet } from "../graph/request.ts";
import { ACCOUNT_KIND, classify } from "./errors.ts";
import { issuedAt, readLimits, readToken, scopedIdShape, SCOPES, tokenUrl } from "./session.ts";
import { accessOf, type Credentials } from "./state.ts";

/** The documents write them both in capitals and in lower case. */
const KINDS: Readonly<Record<string, string>> = {
  BUSINESS: "business",
  MEDIA_CREATOR: "creator",
  CREATOR: "creator",
  // This kind of account can't be published to.
  PERSONAL: "personal",
};

const SITE = "https://www.instagram.com";

const finish = finishCode({
  flowOf: () => undefined,
  codeOf: ({ params }) => readCallback(params),
  redeem,
  lacking: ({ scopes }) => lacking(SCOPES, scopes),
  async link(granted, { tools }): Promise<LinkOutcome> {
    const token = await longLivedToken(granted.token, tools);
    if (isLinkFailure(token)) return token;
    const found = await readAccount(token.accessToken, tools);
    if (isLinkFailure(found)) return found;
    const { account, grant } = found;
    const credentials: Credentials = {
      userId: account.id,
      authVariant: "instagram_login",
      ...token,
    };
    const limits = await readLimits({ credentials, tools });
    return {
      kind: "linked",
      linked: {
        account,
        credentials,
        instanceUrl: null,
        scopes: granted.scopes,
        limits: limits.kind === "read" ? limits.limits : {},
        expiresAt: token.expiresAt,
        ...grant,
      },
    };
  },
});

export const instagramLink = {
  kind: "oauth",
  fields: [],
  origins: [SITE],
  start(_form, oauth, tools) {
    const app = appOf(tools);
    const scope = [...SCOPES, ...(app.extraScopes ?? [])].join(",");
    return redirectTo(`${SITE}/oauth/authorize`, oauth, { client_id: app.id, scope });
  },
  finish,
} as const satisfies OAuthFlow;

const grantShape = objectShape(() => ({
  access_token: z.string().min(1),
  permissions: scopesShape(),
}));
/** Makes the shape of an answer that is documented within a list, and also seen without. */
function listedOrNot<Of extends z.ZodType>(one: Of) {
  const listed = z.object({ data: z.tuple([z.unknown()], z.unknown()) });
  return z.preprocess((body) => listed.safeParse(body).data?.data[0] ?? body, one);
}

async function redeem({ code, callback, tools }: OAuthReturn<undefined>) {
  const { id, secret } = appOf(tools);
  const { redirectUri: redirect_uri } = callback;
  const fields = { client_id: id, client_secret: secret, redirect_uri, code };
  const request = formRequest("https://api.instagram.com/oauth/access_token", {
    ...fields,
    grant_type: "authorization_code",
  });
  const read = inForm(() => listedOrNot(grantShape()));
  const grant = await linkStep({ request, read, refuse: refusedCode }, tools);
  if (isLinkFailure(grant)) return grant;
  const { access_token: token, permissions } = grant;
  // RFC 6749, section 5.1: no list means the requested scopes. The extras are left out, because nothing tells.
  return { token, scopes: permissions ?? SCOPES };
}

/**
 * What this host says about the app: an app in development mode, which accepts only the accounts of its testers
 * (https://github.com/loicnestler/instagram-basic-display/issues/2), its id, its secret or its address.
 */
const OF_APP = /developer role|platform app|\bclient\b|redirect/i;

/** Returns the failure of a refused code. This host has an envelope of its own. */
function refusedCode(answer: HttpResponse): LinkFailure {
  const shape = z.object({ error_message: z.string() });
  const message = shape.safeParse(answer.json()).data?.error_message ?? "";
  const note = `HTTP ${answer.status} ${message}`;
  if (answer.status === 429) return linkFailed("rate_limited", note);
  if (/\b(?:business|professional|personal)\b/i.test(message))
    return linkFailed("account_kind_unsupported", note);
  if (answer.status >= 500) return linkFailed("network_unavailable", note);
  if (OF_APP.test(message)) return linkFailed("service_refused", note);
  return linkFailed(/\bcode\b/i.test(message) ? "access_denied" : "network_unavailable", note);
}

async function longLivedToken(
  token: string,
  tools: NetworkTools,
): Promise<ReturnType<typeof issuedAt> | LinkFailure> {
  const url = tokenUrl("access_token", {
    grant_type: "ig_exchange_token",
    client_secret: appOf(tools).secret,
    access_token: token,
  });
  const refuse = (answer: HttpResponse) => refused(answer, tools);
  const issued = await linkStep(
    { request: { method: "GET", url }, read: readToken, refuse },
    tools,
  );
  return isLinkFailure(issued) ? issued : issuedAt(tools.now(), issued);
}

async function readAccount(accessToken: string, tools: NetworkTools) {
  const fields = "id,user_id,username,name,profile_picture_url,account_type";
  const access = accessOf({ credentials: { accessToken }, tools });
  const read = inForm(() =>
    listedOrNot(
      z.object({
        id: scopedIdShape(),
        user_id: idShape().pipe(z.string().regex(/^\d+$/)),
        username: z.string().min(1),
        name: lenient(z.string()),
        profile_picture_url: lenient(z.url()),
        account_type: lenient(z.string()),
      }),
    ),
  );
  const request = graphGet(access, "me", { fields });
  const refuse = (answer: HttpResponse) => refused(answer, tools);
  const found = await linkStep({ request, read, refuse }, tools);
  if (isLinkFailure(found)) return found;
  const { id: scopedId, user_id: id, username, name, profile_picture_url, account_type } = found;
  // An unknown word says nothing, because only professional accounts can log in.
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
  // By which the app alone knows the account: what a withdrawal names.
  return { account, grant: scopedId === undefined ? {} : { grantId: scopedId } };
}

function refused(answer: HttpResponse, tools: NetworkTools): LinkFailure {
  const classified = classify(answer, tools.now());
  return classified.rule === ACCOUNT_KIND
    ? linkFailed("account_kind_unsupported", classified.note)
    : refusedLink(classified);
}
