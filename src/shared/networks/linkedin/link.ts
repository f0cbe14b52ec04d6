import * as z from "zod";
import type { HttpResponse } from "../../runtime/http-call.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { type ClassifiedAnswer, oauthError } from "../contract/answers.ts";
import { inForm } from "../contract/ask.ts";
import type { NetworkData } from "../contract/draft.ts";
import { objectShape, lenient } from "../contract/fields.ts";
import { linkFailed } from "../contract/link.ts";
import type { LinkChoice, LinkErrorCode, LinkFailure, LinkOutcome } from "../contract/link.ts";
import type { OAuthFlow } from "../contract/link.ts";
import { CLIENT_ERRORS, finishCode, isLinkFailure, lacking } from "../contract/oauth.ts";
import {
  linkStep,
  readCode,
  redirectTo,
  refusedLink,
  type OAuthReturn,
} from "../contract/oauth.ts";
import { readerOf } from "../contract/state.ts";
import { appOf, type NetworkTools } from "../contract/tools.ts";
import { classify } from "./errors.ts";
import { findOrganizations, type Organization, organizationShape } from "./organizations.ts";
import { API, clientOf, OAUTH, SITE } from "./request.ts";
import { askedScopes, type Grant, grantExpiry, NEEDED, readGrant, SCOPES } from "./session.ts";
import { tokenRequest } from "./session.ts";
import { type Credentials, kindShape, tokensShape } from "./state.ts";

const flowOf = readerOf(() => ({ kind: kindShape() }));
type Flow = ReturnType<typeof flowOf>;
const choiceOf = readerOf(() => ({
  grant: z.object({ tokens: tokensShape(), scopes: z.array(z.string()).nullable() }),
  organizations: z.array(organizationShape()),
}));

const finish = finishCode({
  flowOf,
  codeOf: ({ params }) => readCode(params, CALLBACK_ERRORS),
  redeem,
  lacking: ({ scopes }: Grant, { kind }) => lacking(NEEDED[kind], scopes ?? SCOPES[kind]),
  link: (grant, { flow: { kind }, tools }): Promise<LinkOutcome | LinkChoice> =>
    kind === "member" ? linkMember(grant, tools) : offerOrganizations(grant, tools),
});

export const linkedinLink = {
  kind: "oauth",
  origins: [SITE],
  fields: [
    {
      name: "kind",
      label: "Publish as",
      hint: "Choose a company page only if you are one of its admins",
      choices: [
        { value: "member", label: "Myself" },
        { value: "organization", label: "A company page" },
      ],
      isAsked: (app) => app?.organizations !== undefined,
      known: ({ account }) => (account.kind === "organization" ? "organization" : "member"),
    },
  ],
  start(form, oauth, tools) {
    const kind = kindShape().safeParse(form["kind"] || "member").data;
    const client = kind && clientOf(kind, tools);
    if (kind === undefined || client === undefined)
      return Promise.resolve(linkFailed("input_invalid"));
    const scope = askedScopes(kind, appOf(tools)).join(" ");
    return redirectTo(`${OAUTH}/authorization`, oauth, { client_id: client.id, scope }, { kind });
  },
  finish,
  choose,
} as const satisfies OAuthFlow;

const CALLBACK_ERRORS: Readonly<Record<string, LinkErrorCode>> = {
  user_cancelled_login: "access_denied",
  user_cancelled_authorize: "access_denied",
  unauthorized_scope_error: "service_refused",
};

async function redeem({
  code,
  callback,
  flow,
  tools,
}: OAuthReturn<Flow>): Promise<Grant | LinkFailure> {
  const client = clientOf(flow.kind, tools);
  if (client === undefined) return linkFailed("network_unavailable", "the app is gone");
  const { redirectUri: redirect_uri } = callback;
  const request = tokenRequest(client, { grant_type: "authorization_code", code, redirect_uri });
  const read = (answer: HttpResponse) => readGrant(answer, tools.now());
  return linkStep({ request, read, refuse: refusedGrant }, tools);
}

function refusedGrant(answer: HttpResponse): LinkFailure {
  const error = oauthError(answer) ?? "";
  const note = `HTTP ${answer.status} ${error}`;
  if (answer.status === 429) return linkFailed("rate_limited", note);
  if (CLIENT_ERRORS.includes(error)) return linkFailed("service_refused", note);
  // A code that has expired or was used is refused as `invalid_request`.
  const isRefused = answer.status === 400 && error !== "";
  return linkFailed(isRefused ? "access_denied" : "network_unavailable", note);
}

/**
 * Returns the failure of a call with a token that was issued just now. LinkedIn calls such a token revoked for some
 * seconds (https://github.com/decioferreira/omniauth-linkedin-oauth2/issues/17). Its scopes were checked, and LinkedIn's
 * page lets nobody leave one out: a permission that is missing all the same is one of the app's products
 * (https://github.com/linkedin-developers/linkedin-api-js-client/issues/35).
 */
function refusedNew(classified: ClassifiedAnswer): LinkFailure {
  const { networkCode, note } = classified;
  return classified.code === "permission_missing"
    ? linkFailed("service_refused", `${networkCode ?? ""} ${note}`.trim())
    : refusedLink(classified);
}

const memberShape = objectShape(() => ({
  sub: z.string().regex(/^[\w-]+$/),
  name: lenient(z.string().trim()),
  given_name: lenient(z.string().trim()),
  picture: lenient(z.url()),
}));

/**
 * Links a member's own account. Reads the profile once per link, because the address has a daily limit for the whole
 * app.
 */
async function linkMember(grant: Grant, tools: NetworkTools): Promise<LinkOutcome> {
  const authorization = `Bearer ${grant.tokens.accessToken}`;
  const request = {
    method: "GET",
    url: `${API}/v2/userinfo`,
    headers: { accept: "application/json", authorization },
  } as const;
  const refuse = (answer: HttpResponse) => {
    const classified = classify(answer, tools.now());
    // The member has only just signed in, so a limit that is used up is the app's.
    return refusedNew(
      classified.code === "rate_limited" ? { ...classified, isOfApp: true } : classified,
    );
  };
  const member = await linkStep({ request, read: inForm(memberShape), refuse }, tools);
  if (isLinkFailure(member)) return member;
  const name = member.name || member.given_name || "LinkedIn member";
  const author = `urn:li:person:${member.sub}`;
  return {
    kind: "linked",
    linked: {
      ...sharedParts({ ...grant.tokens, kind: "member", author }, grant),
      account: {
        id: author,
        username: name,
        displayName: name,
        avatarUrl: member.picture ?? null,
        // Only approved apps get the address of a member's own page.
        url: "",
        kind: "member",
      },
    },
  };
}

async function offerOrganizations(
  grant: Grant,
  tools: NetworkTools,
): Promise<LinkOutcome | LinkChoice> {
  const found = await findOrganizations(grant.tokens, tools);
  if (found instanceof HttpFailure) return linkFailed("network_unavailable", found.message);
  if (!("organizations" in found)) return refusedNew(classify(found, tools.now()));
  const { organizations, barred, isCut } = found;
  const [first] = organizations;
  if (first === undefined && barred.length === 0) return linkFailed("nothing_to_choose");
  if (first !== undefined && organizations.length === 1 && !isCut)
    return linkOrganization(first, grant);
  const shown = ({ id, name, vanityName }: Organization) => ({
    id,
    label: name,
    hint: vanityName,
  });
  const candidates = [
    ...organizations.map(shown),
    ...barred.map((one) => ({ ...shown(one), isBarred: true })),
  ];
  return { kind: "choose", candidates, ...(isCut && { isCut }), flow: { grant, organizations } };
}

function choose(candidateId: string, flow: NetworkData): Promise<LinkOutcome> {
  const { grant, organizations } = choiceOf(flow);
  const chosen = organizations.find(({ id }) => id === candidateId);
  return Promise.resolve(
    chosen === undefined ? linkFailed("input_invalid") : linkOrganization(chosen, grant),
  );
}

function linkOrganization(organization: Organization, grant: Grant): LinkOutcome {
  const { id, name, vanityName, member, isBrand = false } = organization;
  const author = `urn:li:organization${isBrand ? "Brand" : ""}:${id}`;
  return {
    kind: "linked",
    linked: {
      ...sharedParts({ ...grant.tokens, kind: "organization", author }, grant),
      account: {
        id: author,
        username: vanityName || name,
        displayName: name,
        avatarUrl: null,
        url: `${SITE}/${isBrand ? "showcase" : "company"}/${encodeURIComponent(vanityName || id)}/`,
        kind: "organization",
      },
      // All pages of one administrator depend on the same authorization.
      ...(member === "" ? {} : { grantId: `organizations of ${member}` }),
    },
  };
}

function sharedParts(credentials: Credentials, { scopes }: Grant) {
  const { kind } = credentials;
  return {
    credentials: { ...credentials },
    instanceUrl: null,
    scopes: scopes ?? SCOPES[kind],
    limits: { kind },
    expiresAt: grantExpiry(credentials),
  };
}
