import * as z from "zod";
import { lenientList, objectShape } from "../contract/fields.ts";
import type { HttpRequest, HttpResponse } from "../../runtime/http-call.ts";
import { type ClassifiedAnswer, exchange, idShape } from "../contract/answers.ts";
import { inForm, probe, tryRead } from "../contract/ask.ts";
import { isStorable } from "../contract/bounded.ts";
import type { Texts } from "../contract/draft.ts";
import { linkFailed } from "../contract/link.ts";
import type { LinkChoice, LinkFailure, LinkOutcome } from "../contract/link.ts";
import type { OAuthFlow } from "../contract/link.ts";
import type { AccountCheck } from "../contract/network.ts";
import { finishCode, isLinkFailure, lacking, linkStep } from "../contract/oauth.ts";
import { redirectTo, refusedLink, type OAuthReturn } from "../contract/oauth.ts";
import type { LimitsOutcome } from "../contract/outcome.ts";
import type { NetworkApp } from "../contract/settings.ts";
import { readerOf } from "../contract/state.ts";
import { appOf, type NetworkTools } from "../contract/tools.ts";
import { readCallback } from "../graph/link.ts";
import { graphDelete, graphGet } from "../graph/request.ts";
import { classify } from "./errors.ts";
import { type FacebookPage, findPages, pageShape, readPage } from "./pages.ts";
import { accessFor, appAccess, type AsAccount, pageOf, steps } from "./state.ts";

const answerShape = objectShape(() => ({
  data: z.object({ data_access_expires_at: z.number().int().nonnegative() }),
}));

/**
 * Checks when the app's access to the person's data has ended, some 90 days after the person last logged in
 * (`data_access_expires_at`, https://developers.facebook.com/docs/facebook-login/auth-vs-data). Meta's documents don't
 * say whether a page's token can still publish then, so these pages are only reported.
 */
async function readDataAccess({ credentials, tools }: AsAccount): Promise<LimitsOutcome> {
  const query = { input_token: credentials.userToken };
  // A failed check says nothing about the account. Other checks do that.
  const seen = await tryRead(graphGet(appAccess(tools), "debug_token", query), answerShape, tools);
  const endsAt = seen?.data.data_access_expires_at ?? 0;
  const hasEnded = endsAt > 0 && endsAt * 1000 < tools.now().getTime();
  return { kind: "read", limits: {}, ...(hasEnded ? { doubts: ["data_access_expired"] } : {}) };
}

const DIALOG = "https://www.facebook.com";
/** Facebook redirects phones, some networks and business accounts to other hosts. */
const DIALOGS = [
  DIALOG,
  "https://m.facebook.com",
  "https://web.facebook.com",
  "https://business.facebook.com",
] as const;
const NEEDED = ["pages_show_list", "pages_read_engagement", "pages_manage_posts"] as const;
/** Without it, pages of a business portfolio may not be listed. Publishing doesn't need it. */
const BUSINESS = "business_management";

const choiceOf = readerOf(() => ({
  userId: z.string(),
  userToken: z.string(),
  scopes: z.array(z.string()),
  /** Without their tokens where there is no room for all of them: the chosen one's is requested again. */
  pages: z.array(pageShape()),
}));
type Flow = ReturnType<typeof choiceOf>;

const finish = finishCode({
  flowOf: () => undefined,
  codeOf: ({ params }) => readCallback(params),
  redeem,
  lacking: ({ scopes }) => lacking(NEEDED, scopes),
  async link(granted, { tools }): Promise<LinkOutcome | LinkChoice> {
    const access = accessFor(granted.userToken, tools);
    const user = await read(
      graphGet(access, "me", { fields: "id" }),
      () => z.object({ id: idShape() }),
      tools,
    );
    if (isLinkFailure(user)) return user;
    const userId = user.id;
    const found = await findPages(access);
    if (isLinkFailure(found)) return found;
    // Links the page if it is known to be the only one. Otherwise offers a choice.
    const flow = { ...granted, userId, pages: [...found.pages] };
    const [first] = found.pages;
    if (first === undefined && found.barred.length === 0) return linkFailed("nothing_to_choose");
    if (first !== undefined && found.pages.length === 1 && found.isComplete)
      return linkPage(first, flow);
    const kept = storable(flow);
    const shown = ({ id, name, username }: FacebookPage) => ({
      id,
      label: name === "" ? id : name,
      hint: username ? `@${username}` : id,
    });
    const candidates = [
      ...kept.pages.map(shown),
      ...found.barred.map((page) => ({ ...shown(page), isBarred: true })),
    ];
    const isCut = found.isCut || kept.pages.length < found.pages.length;
    return { kind: "choose", candidates, flow: kept, ...(isCut && { isCut }) };
  },
});

const choose: OAuthFlow["choose"] = async (candidateId, data, tools) => {
  const flow = choiceOf(data);
  const known = flow.pages.find(({ id }) => id === candidateId);
  if (known === undefined) return linkFailed("input_invalid", "not one of the pages");
  const hasToken = known.access_token !== undefined;
  const page = hasToken ? known : await readPage(known.id, accessFor(flow.userToken, tools));
  return page === undefined ? linkFailed("network_unavailable") : linkPage(page, flow);
};

export const facebookLink = {
  kind: "oauth",
  fields: [],
  origins: DIALOGS,
  start(_form, oauth, tools) {
    const app = appOf(tools);
    return redirectTo(`${DIALOG}/${app.version}/dialog/oauth`, oauth, {
      client_id: app.id,
      ...wanted(app),
      // Otherwise a permission that was once declined is never requested again.
      auth_type: "rerequest",
    });
  },
  finish,
  choose,
} as const satisfies OAuthFlow;

/**
 * Returns the parameter that requests permissions. A configuration of Facebook Login for Business replaces a list
 * (https://developers.facebook.com/docs/facebook-login/facebook-login-for-business).
 */
function wanted({ loginConfigId, asksForBusiness = true, extraScopes = [] }: NetworkApp) {
  if (loginConfigId !== undefined) return { config_id: loginConfigId };
  return { scope: [...NEEDED, ...(asksForBusiness ? [BUSINESS] : []), ...extraScopes].join(",") };
}

type GrantedFlow = Pick<Flow, "userToken" | "scopes">;

async function redeem({
  code,
  callback,
  tools,
}: OAuthReturn<undefined>): Promise<GrantedFlow | LinkFailure> {
  const userToken = await longLivedToken({ code, redirect_uri: callback.redirectUri }, tools);
  if (typeof userToken !== "string") return userToken;
  const request = graphGet(accessFor(userToken, tools), "me/permissions");
  const answer = await read(
    request,
    () => z.object({ data: lenientList(z.object({ permission: z.string(), status: z.string() })) }),
    tools,
  );
  if (isLinkFailure(answer)) return answer;
  const granted = answer.data.filter(({ status }) => status === "granted");
  return { userToken, scopes: granted.map(({ permission }) => permission) };
}

const tokenShape = () => z.object({ access_token: z.string().min(1) });
/**
 * Exchanges the code for a long-lived token. The code's own token lasts for hours, and a page's token lasts as long as
 * the token with which it was requested.
 */
async function longLivedToken(grant: Texts, tools: NetworkTools): Promise<string | LinkFailure> {
  const short = await requestToken(grant, tools);
  if (typeof short !== "string") return short;
  return requestToken({ grant_type: "fb_exchange_token", fb_exchange_token: short }, tools);
}

async function requestToken(grant: Texts, tools: NetworkTools): Promise<string | LinkFailure> {
  const { id, secret, version } = appOf(tools);
  const query = new URLSearchParams({ client_id: id, client_secret: secret, ...grant });
  const url = `https://graph.facebook.com/${version}/oauth/access_token?${query.toString()}`;
  const request: HttpRequest = { method: "GET", url, headers: { "accept-language": "en" } };
  const refuse = (answer: HttpResponse) => refusedCode(classify(answer, tools.now()));
  const answer = await linkStep({ request, read: inForm(tokenShape), refuse }, tools);
  return isLinkFailure(answer) ? answer : answer.access_token;
}

/**
 * Returns `access_denied` for a refused code, which has expired or was used, so the person has to begin again. A refusal
 * of the app is certain here, because the call is made for the app and no account.
 */
function refusedCode(classified: ClassifiedAnswer): LinkFailure {
  const isOfApp = classified.code === "app_misconfigured";
  const isOfCode = !isOfApp && /^100\b/.test(classified.networkCode ?? "");
  const failure = refusedLink(classified, "app");
  return isOfCode ? { ...failure, code: "access_denied" } : failure;
}

function read<Shape extends z.ZodType<object>>(
  request: HttpRequest,
  form: () => Shape,
  tools: NetworkTools,
) {
  const refuse = (answer: HttpResponse) => refusedLink(classify(answer, tools.now()));
  return linkStep({ request, read: inForm(form), refuse }, tools);
}

/**
 * Returns the pages in a form that can be stored until one is chosen. For a person with very many, the pictures and
 * tokens are left out and, if that is not enough, the last pages.
 */
function storable(flow: Flow): Flow {
  if (isStorable(flow)) return flow;
  const bare = flow.pages.map(({ id, name, username }) => ({ id, name, username }));
  let fitting = { ...flow, pages: bare };
  while (fitting.pages.length > 0 && !isStorable(fitting))
    fitting = { ...fitting, pages: fitting.pages.slice(0, -1) };
  return fitting;
}

function linkPage(
  page: FacebookPage,
  { userId, userToken, scopes }: Pick<Flow, "userId" | "userToken" | "scopes">,
): LinkOutcome {
  const { id, name, username, access_token: pageToken, picture } = page;
  return {
    kind: "linked",
    linked: {
      account: {
        id,
        username: username ?? "",
        displayName: name === "" ? id : name,
        avatarUrl: picture?.data.url ?? null,
        url: `https://www.facebook.com/${username || id}`,
        kind: "page",
      },
      credentials: { userId, userToken, pageId: id, pageToken },
      instanceUrl: null,
      scopes,
      limits: {},
      // A page's token ends with the person's role or password, not at a time.
      expiresAt: null,
      grantId: userId,
    },
  };
}

/** Revokes all that the person allowed, for all pages. The caller first checks that no other connection uses it. */
export async function revoke({ credentials, tools }: AsAccount): Promise<void> {
  const { userId, userToken } = credentials;
  await exchange(tools, graphDelete(accessFor(userToken, tools), `${userId}/permissions`));
}

/** A page's token has no end, and only a call can tell that it was revoked. */
export const facebookAccountCheck: AccountCheck = {
  idleDaysMax: 3,
  probe: steps.checked((as) =>
    probe(graphGet(pageOf(as), as.credentials.pageId, { fields: "id" }), classify, as.tools),
  ),
  readLimits: steps.checked(readDataAccess),
};
