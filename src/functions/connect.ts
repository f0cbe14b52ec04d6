import {
  callbackFields,
  connectBodyExample,
  connection,
  connectionExample,
  connectSession,
  connectSessionCreated,
  formFields,
  pageFields,
  sessionCreatedExample,
  connectSessionExample,
} from "../shared/connections/answer-schema.ts";
import {
  cancelSession,
  getSession,
  listSessions,
  sessionAddressIssues,
  startConnectSession,
  listConnections,
  removeConnection,
  publishedDocument,
} from "../shared/connections/connections.ts";
import {
  BrowserFields,
  CreateConnectSessionBody,
  ListSessionsQuery,
} from "../shared/connections/schema.ts";
import { anyone } from "../shared/http/access/access.ts";
import {
  activeProfileScope,
  connectSessionScope,
  profileScope,
} from "../shared/http/access/profile-access.ts";
import { document } from "../shared/http/reply.ts";
import { route, type Route } from "../shared/http/route.ts";
import { networkOf } from "../shared/networks/networks.ts";
import { NETWORK_NAMES } from "../shared/networks/names.ts";
import { onPage, refusedConnectPage } from "./on-page.ts";

const LEADS_ON = "Redirects to the network, the page, or the platform.";

/** The meaning of a page's status, if the page leads no further. */
const END_NOTICES = {
  404: "The link doesn't work.",
  410: "The session has ended.",
  429: "Too many attempts.",
  500: "An error on our side. It was logged.",
  503: "Not possible right now.",
};

/** Steps that take a form of the page. */
const FORM = {
  body: BrowserFields,
  bodyKind: "form",
  browserFields: formFields,
  refused: refusedConnectPage,
} as const;

const DAMAGED_ADDRESS = { 400: "The URL is damaged: a part of it occurs twice." };

const FORM_ANSWERS = {
  303: LEADS_ON,
  400: "The form is damaged.",
  402: "The platform can't pay for a link.",
  403: "The form did not come from our page.",
  413: "The form is too long.",
  415: "The body isn't a form.",
  422: "The page again, with the errors.",
  ...END_NOTICES,
};

/** The documents that networks require this service to publish. */
const documentRoutes = NETWORK_NAMES.flatMap((network) =>
  (networkOf(network).documents ?? []).map((published) =>
    route("GET", `v1/connect/${network}/${published.file}`, {
      ...published.reference,
      calledBy: `${networkOf(network).title}'s servers`,
      access: anyone,
      produces: "document",
      errors: ["not_found"],
      run: ({ services }) =>
        document(publishedDocument(services.connections.config, network, published)),
    }),
  ),
);

const CALLBACK = {
  access: anyone,
  query: BrowserFields,
  browserFields: callbackFields,
  refused: refusedConnectPage,
  status: 303,
  produces: "page",
  answers: {
    200: "The last page, if there is no `returnUrl`.",
    303: LEADS_ON,
    ...DAMAGED_ADDRESS,
    403: "Another browser than the one that began.",
    ...END_NOTICES,
  },
} as const;

/** The callbacks of networks with many authorization servers, each with a callback of its own. */
const serverCallbackRoutes = NETWORK_NAMES.flatMap((network) => {
  const { link, title } = networkOf(network);
  if (link.kind !== "oauth" || link.hasServers !== true) return [];
  return route("GET", `v1/connect/callback/${network}/{server}`, {
    operationId: `finishConnectOAuthOf${network.charAt(0).toUpperCase()}${network.slice(1)}`,
    summary: `Where the authorization page of a ${title} server leads back to`,
    calledBy: "browsers",
    description:
      "Each server has its own callback URL, and the relay registers only that URL with it. A state that was issued for another server is refused before any code is forwarded.",
    ...CALLBACK,
    run: onPage(({ finishOAuth }, request, { services, params: { server }, query: params }) =>
      finishOAuth(services.connections, request, { network, server, params }),
    ),
  });
});

export const connectRoutes: readonly Route[] = [
  route("GET", "v1/profiles/{profileId}/connections", {
    operationId: "listConnections",
    summary: "List connections",
    description:
      "The profile's linked accounts. At most one per network, so there is only one page.",
    access: profileScope,
    list: true,
    answerHeaders: ["Vary"],
    response: connection,
    examples: () => ({ answer: connectionExample() }),
    run: ({ services, scope }) => listConnections(services.connections, scope),
  }),
  route("DELETE", "v1/profiles/{profileId}/connections/{connectionId}", {
    operationId: "removeConnection",
    summary: "Unlink an account",
    description: "Deletes its credentials, and revokes them on the network.",
    access: profileScope,
    answerHeaders: ["Vary"],
    response: connection,
    errors: ["not_found"],
    examples: () => ({ answer: { ...connectionExample(), status: "revoked" as const } }),
    run: ({ services, scope, params }) =>
      removeConnection(services.connections, scope, params.connectionId),
  }),
  route("POST", "v1/profiles/{profileId}/connect/sessions", {
    operationId: "createConnectSession",
    summary: "Create a connect session",
    description:
      "Starts a visit to the hosted page on which an end user links accounts. Send the end user to `connectUrl`. The page leads back to `returnUrl` with `session`, `status`, `connections` and your `state` in the query. Linking a new account costs 5 tokens. The session ends with the key or user that started it, and with the key or user that created the grant it was started with. Once one of them is revoked, expired, deleted or removed, nothing more is linked, and the status is `canceled`.",
    access: activeProfileScope,
    body: CreateConnectSessionBody,
    moreIssues: ({ services, body }) => sessionAddressIssues(services.connections, body),
    status: 201,
    answerHeaders: ["Vary"],
    response: connectSessionCreated,
    errors: ["insufficient_tokens", "daily_budget_reached"],
    examples: () => ({ body: connectBodyExample(), answer: sessionCreatedExample() }),
    run: ({ services, scope, body }) => startConnectSession(services.connections, scope, body),
  }),
  route("GET", "v1/profiles/{profileId}/connect/sessions", {
    operationId: "listConnectSessions",
    summary: "List open connect sessions",
    description:
      "The profile's open sessions, without their `connectUrl`. Each can be ended with `POST /v1/connect/sessions/{sessionId}/cancel`. Sessions whose key or user no longer exists have ended and are not listed. A page may be short or empty without being the last.",
    access: profileScope,
    query: ListSessionsQuery,
    list: true,
    answerHeaders: ["Vary"],
    response: connectSession,
    examples: () => ({
      answer: { ...connectSessionExample(), status: "open" as const, connections: [] },
    }),
    run: ({ services, scope, query }) => listSessions(services.connections, scope, query),
  }),
  route("GET", "v1/connect/sessions/{sessionId}", {
    operationId: "getConnectSession",
    summary: "Get a connect session",
    description: "Returns the session with the connections that were made in it.",
    access: connectSessionScope,
    answerHeaders: ["Vary"],
    response: connectSession,
    errors: ["not_found"],
    examples: () => ({ answer: connectSessionExample() }),
    run: ({ services, scope, params }) => getSession(services.connections, scope, params.sessionId),
  }),
  route("POST", "v1/connect/sessions/{sessionId}/cancel", {
    operationId: "cancelConnectSession",
    summary: "Cancel a connect session",
    description: "Cancels an open session. After that, its page can't link any more accounts.",
    access: connectSessionScope,
    answerHeaders: ["Vary"],
    response: connectSession,
    errors: ["not_found", "invalid_state"],
    examples: () => ({
      answer: { ...connectSessionExample(), status: "canceled" as const, connections: [] },
    }),
    run: ({ services, scope, params }) =>
      cancelSession(services.connections, scope, params.sessionId),
  }),
  route("GET", "v1/connect/ui", {
    operationId: "showConnectPage",
    summary: "Open the connect page",
    description:
      "The hosted page, for the end user's browser. Send the browser to `connectUrl`, which has both parameters.",
    access: anyone,
    query: BrowserFields,
    browserFields: pageFields,
    refused: refusedConnectPage,
    answerHeaders: ["Vary"],
    produces: "page",
    answers: { 200: "The page.", ...DAMAGED_ADDRESS, ...END_NOTICES },
    run: onPage(({ showPage }, request, { services, query }) =>
      showPage(services.connections, request, query),
    ),
  }),
  route("POST", "v1/connect/ui/done", {
    operationId: "finishConnectPage",
    summary: "The connect page's last form, which completes the session and redirects back",
    calledBy: "browsers",
    access: anyone,
    ...FORM,
    status: 303,
    produces: "page",
    answers: { 200: "The last page, if there is no `returnUrl`.", ...FORM_ANSWERS },
    run: onPage(({ finishVisit }, request, { services, body }) =>
      finishVisit(services.connections, request, body),
    ),
  }),
  route("POST", "v1/connect/ui/{network}", {
    operationId: "submitConnectForm",
    summary: "A network's form on the connect page, which logs in or redirects to the network",
    calledBy: "browsers",
    access: anyone,
    ...FORM,
    status: 303,
    produces: "page",
    answers: { 200: "The last page, if there is no `returnUrl`.", ...FORM_ANSWERS },
    run: onPage(({ submitForm }, request, { services, params: { network }, body: fields }) =>
      submitForm(services.connections, request, { network, fields }),
    ),
  }),
  ...documentRoutes,
  ...serverCallbackRoutes,
  route("GET", "v1/connect/callback/{network}", {
    operationId: "finishConnectOAuth",
    summary: "OAuth callback",
    calledBy: "browsers",
    description: "For networks with one authorization server.",
    ...CALLBACK,
    run: onPage(({ finishOAuth }, request, { services, params: { network }, query: params }) =>
      finishOAuth(services.connections, request, { network, params }),
    ),
  }),
];
