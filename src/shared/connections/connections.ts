/* The part of connections that other folders use: the verbs of linked accounts, and the hosted page. */

export { AppFaults } from "./app-faults.ts";
export {
  listApplicationConnections,
  ListApplicationConnectionsQuery,
} from "./application-connections.ts";
export { checkAccountsOf, isRotating, type ProfileChecks } from "./check-accounts.ts";
export {
  cancelSession,
  getSession,
  listSessions,
  sessionAddressIssues,
  startConnectSession,
} from "./connect-sessions.ts";
export { CONNECT_SESSION_SECONDS_MAX } from "./schema.ts";
export type { LinkGuard } from "./connection-change.ts";
export type { PublishingScope, Connection, FreshCredentials, QuotaView } from "./connection.ts";
export type { ConnectionsDeps } from "./deps.ts";
export {
  clearAuthorizations,
  clearConnections,
  clearSessions,
  endConnections,
} from "./erase-connections.ts";
export { freshCredentials, blamed } from "./fresh-credentials.ts";
export {
  browserCookie,
  pageAnswer,
  readBrowserId,
  type BrowserAnswer,
  type BrowserRequest,
} from "./hosted-page/browser.ts";
export { finishOAuth } from "./hosted-page/finish-oauth.ts";
export { layout } from "./hosted-page/layout.ts";
export { CHECK, WARNING } from "./hosted-page/marks.ts";
export { html, Markup } from "./hosted-page/markup.ts";
export { showDeletion, showPage } from "./hosted-page/show-page.ts";
export { finishVisit, submitForm } from "./hosted-page/submit-form.ts";
export { browserStep, plainNotice } from "./hosted-page/visit.ts";
export { publishedDocument, BACKGROUND_LIMITS, createNetworkTools } from "./network-tools.ts";
export { connectionsOf, openConnection, profileOfSession, recordUse } from "./read-connections.ts";
export { removeConnection } from "./remove-connection.ts";
export { listConnections, readQuota, quotaOfKind, type Quota } from "./view-connection.ts";
export { createConnectionStores } from "./stores.ts";
export {
  finishWithdrawals,
  purgeHosts,
  purgeSessions,
  purgeStates,
  resealHosts,
} from "./upkeep.ts";
export { createViewer } from "./viewer.ts";
export { receiveWithdrawal, withdrawalSenders } from "./withdraw.ts";
