import type { RequestScope } from "../shared/callers/scope.ts";
import { browserStep } from "../shared/connect/browser-step.ts";
import type { BrowserAnswer, BrowserRequest } from "../shared/connect/browser.ts";
import { cancelSession } from "../shared/connect/cancel-session.ts";
import { finishOAuth } from "../shared/connect/finish-oauth.ts";
import { finishVisit } from "../shared/connect/finish-visit.ts";
import { getSession } from "../shared/connect/get-session.ts";
import { listConnections } from "../shared/connect/list-connections.ts";
import { removeConnection } from "../shared/connect/remove-connection.ts";
import { BrowserFields, CreateConnectSessionBody } from "../shared/connect/schema.ts";
import { showPage } from "../shared/connect/show-page.ts";
import { startSession } from "../shared/connect/start-session.ts";
import { submitForm } from "../shared/connect/submit-form.ts";
import { activeProfileScope, anyone, profileScope } from "../shared/http/access.ts";
import { connectSessionScope } from "../shared/http/connect-session-access.ts";
import { Reply } from "../shared/http/reply.ts";
import { route, type Route } from "../shared/http/route.ts";
import type { Services } from "../shared/services.ts";

interface BrowserCall {
  readonly services: Services;
  readonly scope: RequestScope;
  readonly headers: Headers;
}

/** Runs a step of the hosted page; its answer is a page or a redirect, never JSON. */
async function asPage(
  { services, scope, headers }: BrowserCall,
  step: (request: BrowserRequest) => Promise<BrowserAnswer>,
): Promise<Reply> {
  const { requestId, ip } = scope;
  const [cookie, fetchSite] = [headers.get("cookie"), headers.get("sec-fetch-site")];
  const request = { requestId, ip, cookie, fetchSite };
  return new Reply(await browserStep(services, requestId, () => step(request)));
}

export const connectRoutes: readonly Route[] = [
  route("GET", "v1/profiles/{profileId}/connections", {
    summary: "List the profile's connections.",
    access: profileScope,
    status: 200,
    run: ({ services, scope }) => listConnections(services, scope),
  }),
  route("DELETE", "v1/profiles/{profileId}/connections/{connectionId}", {
    summary: "Unlink an account: its tokens are purged and revoked at the network.",
    access: profileScope,
    status: 200,
    run: ({ services, scope, params }) => removeConnection(services, scope, params.connectionId),
  }),
  route("POST", "v1/profiles/{profileId}/connect/sessions", {
    summary: "Start a visit to the hosted page on which an end user links accounts.",
    access: activeProfileScope,
    body: CreateConnectSessionBody,
    status: 201,
    run: ({ services, scope, body }) => startSession(services, scope, body),
  }),
  route("GET", "v1/connect/sessions/{sessionId}", {
    summary: "Read a connect session and the connections made in it.",
    access: connectSessionScope,
    status: 200,
    run: ({ services, scope, params }) => getSession(services, scope, params.sessionId),
  }),
  route("POST", "v1/connect/sessions/{sessionId}/cancel", {
    summary: "End an open connect session.",
    access: connectSessionScope,
    status: 200,
    run: ({ services, scope, params }) => cancelSession(services, scope, params.sessionId),
  }),
  route("GET", "v1/connect/ui", {
    summary: "The hosted page, for the end user's browser.",
    access: anyone,
    query: BrowserFields,
    status: 200,
    run: (call) => asPage(call, (request) => showPage(call.services, request, call.query)),
  }),
  route("POST", "v1/connect/ui/done", {
    summary: "The hosted page's last form: completes the session and leads back.",
    access: anyone,
    body: BrowserFields,
    bodyKind: "form",
    status: 303,
    run: (call) => asPage(call, (request) => finishVisit(call.services, request, call.body)),
  }),
  route("POST", "v1/connect/ui/{network}", {
    summary: "A network's form on the hosted page: signs in or leads to the network.",
    access: anyone,
    body: BrowserFields,
    bodyKind: "form",
    status: 303,
    run: (call) =>
      asPage(call, (request) =>
        submitForm(call.services, request, { network: call.params.network, fields: call.body }),
      ),
  }),
  route("GET", "v1/connect/callback/{network}", {
    summary: "Where a network's own authorisation page leads back to.",
    access: anyone,
    query: BrowserFields,
    status: 303,
    run: (call) =>
      asPage(call, (request) =>
        finishOAuth(call.services, request, { network: call.params.network, params: call.query }),
      ),
  }),
];
