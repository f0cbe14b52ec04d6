import { findAvailable, networkOf, type NetworkName } from "../../networks/networks.ts";
import { unavailableFeatures } from "../../networks/networks.ts";
import { missingScopes } from "../view-connection.ts";
import type { Config } from "../../config/config.ts";
import type { ConnectionsDeps } from "../deps.ts";
import {
  formTargets,
  pageAddress,
  pageAnswer,
  stepAddress,
  type BrowserAnswer,
  type BrowserRequest,
} from "./browser.ts";
import { findChoice, renderChoicePage, type OpenChoice } from "./choice.ts";
import { linkedIds } from "../connect-session.ts";
import { networkNamed } from "../connection-row.ts";
import type { Connection } from "../connection.ts";
import { readProblem, type LinkProblem } from "./link-problem.ts";
import {
  renderConnectPage,
  type Card,
  type CardProblem,
  type ShownAccount,
} from "./connect-page.ts";
import { isProfileActive } from "../link-account.ts";
import { endNotice, lookOf, openVisit, type OpenVisit, plainNotice } from "./visit.ts";
import { awayOf, waysIn, type AskedForm } from "./form.ts";

/** What the page says about the last step. */
export type StepReport =
  | { readonly kind: "general"; readonly problem: LinkProblem }
  | ({ readonly kind: "problem"; readonly network: NetworkName } & CardProblem)
  | {
      readonly kind: "choice";
      readonly network: NetworkName;
      readonly choice: OpenChoice;
      readonly problem: LinkProblem | null;
    }
  | { readonly kind: "linked" | "disconnected"; readonly network: NetworkName };

/** Answers GET of the hosted page. Its address has the result of the last step. */
export async function showPage(
  services: ConnectionsDeps,
  request: BrowserRequest,
  fields: Readonly<Record<string, string>>,
): Promise<BrowserAnswer> {
  const visit = await openVisit(services, fields);
  if (visit.kind === "unknown") return endNotice(services, request, undefined);
  const { session } = visit;
  if (visit.kind === "over") return endNotice(services, request, session);
  if (!(await isProfileActive(services.tenants, session)))
    return endNotice(services, request, session);
  const report = await reportOf(services, request, { visit, fields });
  return await connectPage(services, request, visit, { status: 200, report });
}

async function reportOf(
  services: ConnectionsDeps,
  request: BrowserRequest,
  {
    visit,
    fields,
  }: { readonly visit: OpenVisit; readonly fields: Readonly<Record<string, string>> },
): Promise<StepReport | undefined> {
  const problem = readProblem(fields["problem"]);
  const network = networkNamed(fields["network"]);
  if (network === undefined)
    return problem === undefined ? undefined : { kind: "general", problem };
  if (problem !== undefined) return problemReport(network, problem);
  const { linked } = fields;
  if (linked !== undefined) return { kind: linked === "no" ? "disconnected" : "linked", network };
  if (fields["choice"] === undefined) return undefined;
  const choice = await findChoice(services, request, { visit, network, choice: fields["choice"] });
  return choice === undefined
    ? problemReport(network, "step_over")
    : { kind: "choice", network, choice, problem: null };
}

export function problemReport(network: NetworkName, problem: LinkProblem): StepReport {
  return { kind: "problem", network, problem, way: "first", typed: {} };
}

/** Answers with the page of an open session. Typed text is shown again, except secrets. */
export async function connectPage(
  services: Pick<ConnectionsDeps, "clock" | "config" | "outbound" | "stores">,
  request: BrowserRequest,
  visit: OpenVisit,
  { status, report }: { readonly status: number; readonly report?: StepReport | undefined },
): Promise<BrowserAnswer> {
  const { session, token } = visit;
  const common = { sessionId: session.id, token, ...lookOf(services.config, request, session) };
  if (report?.kind === "choice") {
    const { network, choice, problem } = report;
    const page = {
      ...common,
      network,
      title: networkOf(network).title,
      choice,
      problem,
      action: stepAddress(services.config, network),
      pageAddress: pageAddress(services.config, session.id, token),
    };
    const targets = formTargets(services, session);
    return pageAnswer(status, (nonce) => renderChoicePage(page, nonce), targets);
  }
  const connections = await services.stores.connections.listOfProfile(session);
  const cards = session.networks.map((network) =>
    toCard(
      services.config,
      network,
      connections.find((made) => made.network === network && made.status !== "revoked"),
      { report, allowsDisconnect: session.allowDisconnect },
    ),
  );
  const page = {
    ...common,
    cards,
    problem: report?.kind === "general" ? report.problem : null,
    service: services.config.service.name,
    justLinked: report?.kind === "linked" ? report.network : null,
    justDisconnected: report?.kind === "disconnected" ? report.network : null,
    hasLinked: linkedIds(session).length > 0,
    hasWayBack: session.returnUrl !== null,
    secondsLeft: (Date.parse(session.expiresAt) - services.clock.now().getTime()) / 1000,
    doneAction: stepAddress(services.config, "done"),
  };
  const { networkApps } = services.config;
  const shown = session.networks.flatMap((network) => findAvailable(network, networkApps) ?? []);
  const targets = formTargets(services, session, awayOf(shown, networkApps));
  return pageAnswer(status, (nonce) => renderConnectPage(page, nonce), targets);
}

function toCard(
  config: Config,
  name: NetworkName,
  connection: Connection | undefined,
  {
    report,
    allowsDisconnect,
  }: { readonly report: StepReport | undefined; readonly allowsDisconnect: boolean },
): Card {
  const { networkApps } = config;
  const network = networkOf(name);
  const isAvailable = findAvailable(name, networkApps) !== undefined;
  const { first, other } = waysIn(network, networkApps[name]);
  return {
    network: name,
    title: network.title,
    state: isAvailable ? cardState(connection) : "unavailable",
    account: connection === undefined ? null : shownAccount(connection),
    known: connection === undefined ? {} : knownFields(connection, [first, other]),
    canDisconnect: allowsDisconnect && connection !== undefined,
    lacksPermission: connection !== undefined && lacksPermission(config, connection),
    form: first,
    otherForm: other,
    leaves: first.kind === "oauth",
    action: stepAddress(config, name),
    problem: report?.kind === "problem" && report.network === name ? report : null,
  };
}

/** Returns what the forms are filled in with, so that the linked account is found again. */
function knownFields(connection: Connection, ways: readonly (AskedForm | null)[]) {
  const fields = ways.flatMap((way) => way?.fields ?? []);
  return Object.fromEntries(
    fields.flatMap(({ name, known }) => (known === undefined ? [] : [[name, known(connection)]])),
  );
}

/** Reports whether a feature lacks a permission that the network would now be asked for. */
function lacksPermission(config: Config, connection: Connection): boolean {
  const { network, scopes } = connection;
  if (unavailableFeatures(network, scopes).length === 0) return false;
  return missingScopes(config, connection).length > 0;
}

function shownAccount({ account }: Connection): ShownAccount {
  const { username, displayName, avatarUrl } = account;
  const name = displayName === "" ? username : displayName;
  return { name, handle: username === name ? "" : username, avatarUrl };
}

function cardState(connection: Connection | undefined): Card["state"] {
  if (connection === undefined) return "unlinked";
  return connection.status === "needs_reauth" ? "needs_reauth" : "linked";
}

/** Answers GET of the page for a person who requested deletion at a network. */
export async function showDeletion(
  services: ConnectionsDeps,
  request: BrowserRequest,
  code: string,
): Promise<BrowserAnswer> {
  const found = /^[0-9a-f]{40}$/.test(code)
    ? await services.stores.withdrawals.find(code)
    : undefined;
  if (found === undefined) return plainNotice(services.config, request, "unknown", 404);
  return plainNotice(
    services.config,
    request,
    found.isOpen ? "deletionReceived" : "deletionDone",
    200,
  );
}
