import { randomBytes } from "node:crypto";
import { consentErrorPage, consentPage, rights } from "../consent-page.ts";
import type { Choice } from "../consent-page.ts";
import { callbackUrl, isRedirect } from "../consent-request.ts";
import type { Asked } from "../consent-request.ts";
import { Refusal, htmlPage } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { checkVersion } from "../graph/version.ts";
import { keep } from "../kept-maps.ts";
import type { Route } from "../network.ts";
import { findPage, grantOf } from "./state.ts";
import type { FacebookShared, Grant, Page, User } from "./state.ts";

const CODE_MS = 10 * 60 * 1000;

const PERMISSIONS: Readonly<Record<string, string>> = {
  pages_show_list: "Show a list of the Pages you manage",
  pages_read_engagement: "Read content posted on the Page",
  pages_manage_posts: "Create and manage content on your Page",
  business_management: "Manage your business",
  pages_manage_engagement: "Create, edit and delete comments posted on your Page",
  pages_manage_metadata: "Manage Page settings",
  pages_read_user_content: "Read user content on your Page",
  read_insights: "Access your Page's numbers",
  instagram_basic: "Access the Instagram account of your Page",
  instagram_content_publish: "Upload media to the Instagram account of your Page",
  email: "Read your email address",
};
/** What everybody shares who logs in: it can't be declined. */
const ALWAYS = "public_profile";

function deadEnd(status: number, title: string, message: string): Refusal {
  return new Refusal(htmlPage(status, consentErrorPage("facebook", title, message)));
}

function readAsked(shared: FacebookShared, { query }: Exchange): Asked {
  const appId = query.get("client_id") ?? "";
  if (!shared.state.apps.has(appId))
    throw deadEnd(400, "Invalid App ID", "The provided app ID does not look like a valid app ID.");
  const redirectUri = query.get("redirect_uri") ?? "";
  if (!isRedirect(redirectUri))
    throw deadEnd(
      400,
      "URL blocked",
      "This redirect failed because the redirect URI is not white-listed in the app's client OAuth settings.",
    );
  if (query.get("response_type") !== null && query.get("response_type") !== "code")
    throw deadEnd(400, "Error", "The parameter response_type must be code.");
  // Facebook Login for Business keeps the list of permissions at the app, under the configuration's id.
  const configured = query.get("config_id") === null ? "" : Object.keys(PERMISSIONS).join(",");
  const wanted = (query.get("scope") ?? configured).split(/[\s,]+/).filter((name) => name !== "");
  const unknown = wanted.filter((name) => name !== ALWAYS && !(name in PERMISSIONS));
  if (unknown.length > 0)
    throw deadEnd(400, "Invalid scopes", `Invalid Scopes: ${unknown.join(", ")}.`);
  return { appId, redirectUri, permissions: wanted.filter((name) => name !== ALWAYS) };
}

function back(exchange: Exchange, redirectUri: string, parameters: Record<string, string>): Answer {
  return {
    status: 303,
    headers: { location: `${callbackUrl(exchange, redirectUri, parameters)}#_=_` },
  };
}

const pagesOf = (shared: FacebookShared, { id }: User): Page[] =>
  shared.state.pages.filter((page) => page.tasks[id] !== undefined);

function question(shared: FacebookShared, exchange: Exchange, asked: Asked): string {
  const users = shared.state.users.map((user, index): Choice => {
    const count = pagesOf(shared, user).length;
    const hint = count === 0 ? "has no Pages" : `${count} Pages`;
    const { id, name } = user;
    return { kind: "radio", name: "account", value: id, label: name, hint, checked: index === 0 };
  });
  const pages = shared.state.pages.map((page): Choice => {
    const hint = page.portfolioId === null ? {} : { hint: "in a business portfolio" };
    const name = `page_${page.id}`;
    return { kind: "checkbox", name, value: "yes", label: page.name, checked: true, ...hint };
  });
  return consentPage({
    network: "facebook",
    host: "www.facebook.com",
    title: "Continue with Facebook?",
    groups: [
      { legend: "As", choices: users },
      { legend: "For these Pages, as far as you have them", choices: pages },
      { legend: "It may", choices: rights(asked.permissions, PERMISSIONS) },
    ],
    action: `${exchange.path}?${exchange.query.toString()}`,
    buttons: [
      { value: "allow", label: "Continue" },
      { value: "deny", label: "Cancel" },
    ],
  });
}

/** A form without the page's marker is a bare decision: everything that was asked for is granted. */
function decided(shared: FacebookShared, form: URLSearchParams, asked: Asked, user: User): Grant {
  const chosen = (name: string) => form.get("asked") === null || form.has(name);
  const pageIds = pagesOf(shared, user)
    .map(({ id }) => id)
    .filter((id) => chosen(`page_${id}`));
  const isGranted = (permission: string) => chosen(`may_${permission}`);
  return {
    granted: [ALWAYS, ...asked.permissions.filter(isGranted)],
    declined: asked.permissions.filter((permission) => !isGranted(permission)),
    pageIds,
  };
}

/** Remembers the decision beside what was granted before; what is asked again is decided anew. */
export function saveGrant(
  shared: FacebookShared,
  who: { readonly appId: string; readonly userId: string },
  grant: Grant,
): void {
  const before = grantOf(shared.state, who) ?? { granted: [], declined: [], pageIds: [] };
  const newly = new Set([...grant.granted, ...grant.declined]);
  keep(shared.state.grants, `${who.appId} ${who.userId}`, {
    granted: [...before.granted.filter((name) => !newly.has(name)), ...grant.granted],
    declined: [...before.declined.filter((name) => !newly.has(name)), ...grant.declined],
    pageIds: grant.pageIds.filter((id) => findPage(shared.state, id) !== undefined),
  });
}

function decide(shared: FacebookShared, exchange: Exchange): Answer {
  const asked = readAsked(shared, exchange);
  const form = new URLSearchParams(exchange.body.toString("utf8"));
  if (form.get("decision") !== "allow")
    return back(exchange, asked.redirectUri, {
      error: "access_denied",
      error_code: "200",
      error_reason: "user_denied",
      error_description: "Permissions error",
    });
  const userId = form.get("account") ?? shared.state.users[0]?.id;
  const user = shared.state.users.find(({ id }) => id === userId);
  if (user === undefined)
    return htmlPage(400, consentErrorPage("facebook", "Error", "There is no such account."));
  const { appId, redirectUri } = asked;
  saveGrant(shared, { appId, userId: user.id }, decided(shared, form, asked, user));
  const code = `AQ${randomBytes(90).toString("base64url")}`;
  const expiresAt = shared.now() + CODE_MS;
  keep(shared.state.codes, code, { appId, userId: user.id, redirectUri, expiresAt, used: false });
  return back(exchange, redirectUri, { code });
}

/** The page on which a person lets an app in. */
export function dialogRoutes(shared: FacebookShared): Route[] {
  const route = (method: "GET" | "POST", run: (exchange: Exchange) => Answer): Route => ({
    method,
    hosts: ["www.facebook.com"],
    path: "/{version}/dialog/oauth",
    name: "dialog",
    run: (exchange) => {
      checkVersion(exchange);
      return run(exchange);
    },
  });
  return [
    route("GET", (exchange) =>
      htmlPage(200, question(shared, exchange, readAsked(shared, exchange))),
    ),
    route("POST", (exchange) => decide(shared, exchange)),
  ];
}
