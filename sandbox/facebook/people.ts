import { json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { edge } from "../graph/edge.ts";
import { noSuchObject } from "../graph/errors.ts";
import type { GraphNode } from "../graph/fields.ts";
import type { Route } from "../network.ts";
import { authorizeUser, mayUse, missingPermission, namedId, success } from "./access.ts";
import type { Speaker } from "./access.ts";
import { pageNode } from "./nodes.ts";
import { PORTFOLIO, grantOf } from "./state.ts";
import type { FacebookShared } from "./state.ts";
import { pageToken } from "./tokens.ts";
import { route } from "../network.ts";

const ACCOUNT_FIELDS = "access_token,category,name,id,tasks";

/** The pages that a list shows to the token: chosen in the dialog, and a portfolio's only with the right for it. */
export function accounts(shared: FacebookShared, { token }: Speaker): GraphNode[] {
  if (!mayUse(shared, token, "pages_show_list")) return [];
  const seesPortfolios = mayUse(shared, token, "business_management");
  const { pageIds = [] } = grantOf(shared.state, token) ?? {};
  return shared.state.pages
    .filter((page) => pageIds.includes(page.id) && page.tasks[token.userId] !== undefined)
    .filter((page) => page.portfolioId === null || seesPortfolios)
    .map((page) => pageNode(page, { token: pageToken(shared, token, page), userId: token.userId }));
}

function permissions(shared: FacebookShared, exchange: Exchange): Answer {
  const { token } = authorizeUser(shared, exchange);
  const { granted = [], declined = [] } = grantOf(shared.state, token) ?? {};
  return json(200, {
    data: [
      ...granted.map((permission) => ({ permission, status: "granted" })),
      ...declined.map((permission) => ({ permission, status: "declined" })),
    ],
  });
}

/** Removes the app from the account: every token of the pair ends. */
function removeApp(shared: FacebookShared, exchange: Exchange): Answer {
  const { token: own } = authorizeUser(shared, exchange);
  for (const token of shared.state.tokens.values())
    if (token.appId === own.appId && token.userId === own.userId) token.endedBy ??= 458;
  shared.state.grants.delete(`${own.appId} ${own.userId}`);
  return success();
}

function businesses(shared: FacebookShared, exchange: Exchange): Answer {
  const { token } = authorizeUser(shared, exchange);
  if (!mayUse(shared, token, "business_management")) throw missingPermission("business_management");
  const portfolioIds = new Set(
    shared.state.pages
      .filter((page) => page.tasks[token.userId] !== undefined)
      .flatMap(({ portfolioId }) => portfolioId ?? []),
  );
  const nodes = [...portfolioIds].map((id) => ({
    type: "Business",
    values: { id, name: id === PORTFOLIO ? "Demo Holding" : `Portfolio ${id}` },
  }));
  return json(200, edge(exchange, nodes, "id,name"));
}

function ownedPages(shared: FacebookShared, exchange: Exchange): Answer {
  const speaker = authorizeUser(shared, { ...exchange, params: { ...exchange.params, id: "me" } });
  const { token } = speaker;
  if (!mayUse(shared, token, "business_management")) throw missingPermission("business_management");
  const portfolioId = namedId(exchange, speaker);
  const isClients = exchange.path.endsWith("/client_pages");
  const pages = shared.state.pages.filter((page) => page.portfolioId === portfolioId);
  if (pages.length === 0) throw noSuchObject(portfolioId);
  const nodes = (isClients ? [] : pages).map((page) =>
    pageNode(page, {
      token: pageToken(shared, token, page),
      userId: token.userId,
    }),
  );
  return json(200, edge(exchange, nodes, "name,id"));
}

/** What belongs to the person who linked: rights, pages and business portfolios. */
export function peopleRoutes(shared: FacebookShared): Route[] {
  const get = (
    path: string,
    name: string,
    run: (shared: FacebookShared, exchange: Exchange) => Answer,
  ): Route => route(`GET ${path}`, name, (exchange) => run(shared, exchange));
  return [
    get("/{id}/permissions", "permissions", permissions),
    route("DELETE /{id}/permissions", "removeApp", (exchange) => removeApp(shared, exchange)),
    get("/{id}/accounts", "accounts", (_shared, exchange) => {
      const speaker = authorizeUser(shared, exchange);
      return json(200, edge(exchange, accounts(shared, speaker), ACCOUNT_FIELDS));
    }),
    get("/{id}/businesses", "businesses", businesses),
    get("/{id}/owned_pages", "ownedPages", ownedPages),
    get("/{id}/client_pages", "clientPages", ownedPages),
  ];
}
