import type { Exchange } from "../exchange.ts";
import { checkVersion } from "../graph/version.ts";
import { keep } from "../kept-maps.ts";
import type { Route } from "../network.ts";
import { OAuthProvider, isRedirect, readQuery } from "../oauth-provider.ts";
import type { Asked } from "../oauth-provider.ts";
import { findPage, grantOf } from "./state.ts";
import type { FacebookShared, Grant, Page } from "./state.ts";

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

function readAsked(shared: FacebookShared, provider: OAuthProvider, exchange: Exchange): Asked {
  const { query } = exchange;
  const asked = readQuery(provider, exchange, {
    allowed: shared.state.apps.has(query.get("client_id") ?? "")
      ? [ALWAYS, ...Object.keys(PERMISSIONS)]
      : undefined,
    isRedirect,
    // Facebook Login for Business keeps the list of permissions at the app, under the configuration's id.
    fallback: query.has("config_id") ? Object.keys(PERMISSIONS) : [ALWAYS],
    endings: {
      client: {
        title: "Invalid App ID",
        page: "The provided app ID does not look like a valid app ID.",
      },
      redirect: {
        title: "URL blocked",
        page: "This redirect failed because the redirect URI is not white-listed in the app's client OAuth settings.",
      },
      responseType: { title: "Error", page: "The parameter response_type must be code." },
      scope: (unknown) => ({
        title: "Invalid scopes",
        page: `Invalid Scopes: ${unknown.join(", ")}.`,
      }),
    },
  });
  return { ...asked, scopes: asked.scopes.filter((name) => name !== ALWAYS) };
}

const pagesOf = (shared: FacebookShared, userId: string): Page[] =>
  shared.state.pages.filter((page) => page.tasks[userId] !== undefined);

/** Facebook's consent, in which the person also chooses Pages. */
export function newProvider(shared: FacebookShared): OAuthProvider {
  const provider: OAuthProvider = new OAuthProvider({
    network: "facebook",
    now: () => shared.now(),
    codes: () => shared.state.codes,
    codeMs: CODE_MS,
    read: (exchange) => readAsked(shared, provider, exchange),
    page: () => ({ host: "www.facebook.com", title: "Continue with Facebook?" }),
    accounts: () =>
      shared.state.users.map(({ id, name }) => {
        const count = pagesOf(shared, id).length;
        return { id, label: name, hint: count === 0 ? "has no Pages" : `${count} Pages` };
      }),
    choices: () => ({
      legend: "For these Pages, as far as you have them",
      choices: shared.state.pages.map(({ id, name, portfolioId }) => ({
        kind: "checkbox",
        name: `page_${id}`,
        value: "yes",
        label: name,
        checked: true,
        ...(portfolioId === null ? {} : { hint: "in a business portfolio" }),
      })),
    }),
    words: (permission) => PERMISSIONS[permission] ?? permission,
    isPartial: { always: [] },
    buttons: { allow: "Continue", deny: "Cancel" },
    denied: () => ({
      error: "access_denied",
      error_code: "200",
      error_reason: "user_denied",
      error_description: "Permissions error",
    }),
    onAllowed: (asked, { clientId, accountId, scopes }, form) => {
      const pages = pagesOf(shared, accountId).map(({ id }) => id);
      saveGrant(
        shared,
        { appId: clientId, userId: accountId },
        {
          granted: [ALWAYS, ...scopes],
          declined: asked.scopes.filter((name) => !scopes.includes(name)),
          pageIds: pages.filter((id) => !form.has("asked") || form.has(`page_${id}`)),
        },
      );
    },
    // Facebook ends every address that it sends back to so.
    suffix: "#_=_",
  });
  return provider;
}

/** Remembers the decision beside what was granted before; what is asked again is decided again. */
function saveGrant(
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

/** The page on which a person lets an app in. */
export function dialogRoutes(provider: OAuthProvider): Route[] {
  const place = { hosts: ["www.facebook.com"], path: "/{version}/dialog/oauth", name: "dialog" };
  return provider.routes(place).map((route) => ({
    ...route,
    run: (exchange, plan) => {
      checkVersion(exchange);
      return route.run(exchange, plan);
    },
  }));
}
