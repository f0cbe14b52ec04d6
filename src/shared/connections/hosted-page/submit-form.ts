import { boundedLink, type BoundedLinking } from "../../networks/contract/bounded.ts";
import type { LinkField } from "../../networks/contract/link.ts";
import { findAvailable, type RegisteredNetwork } from "../../networks/networks.ts";
import type { ConnectionsDeps } from "../deps.ts";
import {
  isForeign,
  pageAddress,
  redirect,
  type BrowserAnswer,
  type BrowserRequest,
} from "./browser.ts";
import { findChoice, takeChoice } from "./choice.ts";
import {
  linkedIds,
  sessionStatus,
  visitLimits,
  visitorsOf,
  withDisconnected,
} from "../connect-session.ts";
import { networkNamed } from "../connection-row.ts";
import { linkAccount } from "../link-account.ts";
import { endConnection } from "../remove-connection.ts";
import { logFailedLink } from "./failed-link.ts";
import type { LinkProblem } from "./link-problem.ts";
import { createNetworkTools } from "../network-tools.ts";
import { WAY_FIELD, wayOf, waysIn, type WayIn } from "./form.ts";
import { connectPage, problemReport } from "./show-page.ts";
import { startOAuth } from "./start-oauth.ts";
import { endNotice, foreignForm, leave, openVisit, paused, type OpenVisit } from "./visit.ts";

const FIELD_CHARACTERS_MAX = 1_000;
/** Keeps the page from being used to guess passwords. */
const ATTEMPTS_MAX = 50;

const STATUS: Partial<Record<LinkProblem, number>> = { unpaid: 402, too_many_attempts: 429 };
/** For a form that was understood but did not lead to an account. */
const STATUS_OTHERWISE = 422;

type FormFields = Readonly<Record<string, string>>;

/** Answers POST of a network's form on the hosted page: signs in, or redirects to the network's own page. */
export async function submitForm(
  services: ConnectionsDeps,
  request: BrowserRequest,
  step: { readonly network: string; readonly fields: FormFields },
): Promise<BrowserAnswer> {
  if (isForeign(request)) return foreignForm(services.config, request);
  const visit = await openVisit(services, step.fields);
  if (visit.kind === "unknown") return endNotice(services, request, undefined);
  if (visit.kind === "over") return endNotice(services, request, visit.session);
  const name = networkNamed(step.network);
  if (name === undefined || !visit.session.networks.includes(name))
    return endNotice(services, request, undefined);
  const network = findAvailable(name, services.config.networkApps);
  if (network === undefined) {
    const report = problemReport(name, "not_available");
    return await connectPage(services, request, visit, { status: STATUS_OTHERWISE, report });
  }
  const given = { visit, network, fields: step.fields };
  return await services.waits.run(visitorsOf(visit.session), () => {
    if (step.fields["action"] === "disconnect") return disconnect(services, request, given);
    return step.fields["choice"] === undefined
      ? signIn(services, request, given)
      : chooseAccount(services, request, given);
  });
}

/**
 * Disconnects the network's account, where the session allows it, and leads back to the page. The session is written
 * first, so that it never counts an account that is gone. May be repeated.
 */
async function disconnect(
  services: ConnectionsDeps,
  request: BrowserRequest,
  { visit, network: { name } }: SignIn,
): Promise<BrowserAnswer> {
  const { session, token } = visit;
  const { connectSessions, connections } = services.stores;
  const found = await connections.find({ ...session, network: name });
  const back = redirect(pageAddress(services.config, session.id, token));
  if (!session.allowDisconnect || found === undefined || found.status === "revoked") return back;
  const account = { network: name, accountId: found.account.id };
  const now = services.clock.now();
  const changed = await connectSessions.change(session, (current) =>
    sessionStatus(current, now) === "open" ? withDisconnected(current, account) : undefined,
  );
  if (changed === undefined) return back;
  await endConnection(services, visitScope(request, session), {
    connection: found,
    owner: visitorsOf(session),
    reason: "disconnected_on_page",
  });
  const report = { network: name, linked: "no" };
  return redirect(pageAddress(services.config, session.id, token, report));
}

/** Returns in whose name the audit trail records what a visitor does. */
function visitScope({ requestId, ip }: BrowserRequest, session: OpenVisit["session"]) {
  const { id: sessionId, platformId, applicationId } = session;
  return {
    caller: { kind: "connect_session", sessionId },
    platformId,
    applicationId,
    requestId,
    ip,
  } as const;
}

interface SignIn {
  readonly visit: OpenVisit;
  readonly network: RegisteredNetwork;
  readonly fields: FormFields;
}

async function signIn(
  services: ConnectionsDeps,
  request: BrowserRequest,
  { visit, network, fields }: SignIn,
): Promise<BrowserAnswer> {
  const ways = waysIn(network, services.config.networkApps[network.name]);
  const [way, chosen] = wayOf(ways, fields[WAY_FIELD]);
  const { form, unread } = readFields(chosen.fields, fields);
  const typed = withoutSecrets(chosen.fields, form);
  const trouble = (problem: LinkProblem, field?: string) =>
    connectPage(services, request, visit, {
      status: STATUS[problem] ?? STATUS_OTHERWISE,
      report: { kind: "problem", network: network.name, problem, way, field, typed },
    });
  if (unread !== undefined) return await trouble("input_invalid", unread);
  const counted = await countAttempt(services, visit);
  if (counted === "over")
    return endNotice(services, request, await services.stores.connectSessions.find(visit.session));
  if (counted !== "counted") return await trouble(counted);
  const answer = await beginLinking(services, request, { visit, network, chosen, form });
  return "problem" in answer ? await trouble(answer.problem, answer.field) : answer;
}

/** Why nothing was linked, and the field with the error if the network names it. */
interface Trouble {
  readonly problem: LinkProblem;
  readonly field?: string | undefined;
}

/** Redirects to the network's own page, or signs in with the typed fields. */
async function beginLinking(
  services: ConnectionsDeps,
  request: BrowserRequest,
  {
    visit,
    network,
    chosen,
    form,
  }: Omit<SignIn, "fields"> & { readonly chosen: WayIn; readonly form: FormFields },
): Promise<BrowserAnswer | Trouble> {
  const { name } = network;
  if (chosen.kind === "oauth")
    return await startOAuth(services, request, { visit, network: name, link: chosen.link, form });
  const tools = createNetworkTools(services, name, visitLimits(visit.session));
  const outcome = boundedLink(await chosen.link.signIn(form, tools));
  return await finishLink(services, request, { visit, network, outcome });
}

/** Answers the form in which one of an authorization's accounts is chosen. */
async function chooseAccount(
  services: ConnectionsDeps,
  request: BrowserRequest,
  { visit, network, fields }: SignIn,
): Promise<BrowserAnswer> {
  const { choice, candidate: candidateId } = fields;
  const { name } = network;
  const trouble = (problem: LinkProblem) =>
    connectPage(services, request, visit, {
      status: STATUS[problem] ?? STATUS_OTHERWISE,
      report: problemReport(name, problem),
    });
  const outcome = await takeChoice(services, request, { visit, network, choice, candidateId });
  if (outcome.kind === "over") return await trouble("step_over");
  if (outcome.kind === "unknown") {
    const open = await findChoice(services, request, { visit, network: name, choice });
    if (open === undefined) return await trouble("step_over");
    const report = {
      kind: "choice",
      network: name,
      choice: open,
      problem: "nothing_chosen",
    } as const;
    return await connectPage(services, request, visit, { status: STATUS_OTHERWISE, report });
  }
  const answer = await finishLink(services, request, { visit, network, outcome });
  return "problem" in answer ? await trouble(answer.problem) : answer;
}

/** Reads only the form's own fields, and names one that can't be read. */
function readFields(
  fields: readonly LinkField[],
  given: FormFields,
): { readonly form: Record<string, string>; readonly unread: string | undefined } {
  const form: Record<string, string> = {};
  let unread: string | undefined;
  for (const { name } of fields) {
    const value = given[name] ?? "";
    const isRead =
      value.length <= FIELD_CHARACTERS_MAX && /^\P{Cc}*$/u.test(value) && value.isWellFormed();
    if (isRead) form[name] = value;
    else unread ??= name;
  }
  return { form, unread };
}

function withoutSecrets(fields: readonly LinkField[], form: FormFields): Record<string, string> {
  const shown = fields.filter(({ secret }) => !secret);
  return Object.fromEntries(shown.map(({ name }) => [name, form[name] ?? ""]));
}

async function countAttempt(
  services: Pick<ConnectionsDeps, "clock" | "stores">,
  { session }: OpenVisit,
): Promise<"counted" | "over" | "too_many_attempts"> {
  const now = services.clock.now();
  let hasTooMany = false;
  const counted = await services.stores.connectSessions.change(session, (current) => {
    hasTooMany = current.attempts >= ATTEMPTS_MAX;
    if (hasTooMany || sessionStatus(current, now) !== "open") return undefined;
    return { ...current, attempts: current.attempts + 1 };
  });
  if (counted !== undefined) return "counted";
  return hasTooMany ? "too_many_attempts" : "over";
}

/** Links the account that signed in. Leads back to the platform after the last requested account, else to the page. */
export async function finishLink(
  services: ConnectionsDeps,
  request: BrowserRequest,
  {
    visit,
    network,
    outcome,
  }: { visit: OpenVisit; network: RegisteredNetwork; outcome: BoundedLinking },
): Promise<BrowserAnswer | Trouble> {
  const { session, token } = visit;
  if (outcome.kind === "failed") {
    const where = { network: network.name, session: session.id };
    logFailedLink(services, "an account was not linked", where, outcome);
    return { problem: outcome.code, field: outcome.field };
  }
  const { requestId } = request;
  const { linked } = outcome;
  const result = await linkAccount(services, { session, network: network.name, linked, requestId });
  if (result.kind === "unpaid") return { problem: "unpaid" };
  if (result.kind === "closed")
    return endNotice(
      services,
      request,
      (await services.stores.connectSessions.find(session)) ?? session,
    );
  const target = { type: "connection", id: result.connection.id };
  services.audit.record(visitScope(request, session), { action: "connection.linked", target });
  if (result.session.status === "completed") return leave(services, request, result.session);
  const report = { network: network.name, linked: "yes" };
  return redirect(pageAddress(services.config, session.id, token, report));
}

/**
 * Answers POST of the page's last form and leads back to the platform. "Done" completes the session if an account is
 * linked, and "cancel" ends it. May be repeated.
 */
export async function finishVisit(
  services: ConnectionsDeps,
  request: BrowserRequest,
  fields: Readonly<Record<string, string>>,
): Promise<BrowserAnswer> {
  if (isForeign(request)) return foreignForm(services.config, request);
  const visit = await openVisit(services, fields);
  if (visit.kind === "unknown") return endNotice(services, request, undefined);
  if (visit.kind === "over") return endSession(services, request, visit.session);
  const isCancel = fields["action"] === "cancel";
  const now = services.clock.now();
  const ended = await services.stores.connectSessions.change(visit.session, (current) => {
    if (sessionStatus(current, now) !== "open") return undefined;
    if (linkedIds(current).length > 0) return { ...current, status: "completed" };
    return isCancel && current.returnUrl !== null ? { ...current, status: "canceled" } : undefined;
  });
  if (ended !== undefined) return leave(services, request, ended);
  const after = await services.stores.connectSessions.find(visit.session);
  if (after === undefined || sessionStatus(after, now) !== "open")
    return endSession(services, request, visit.session);
  // No page waits for the user, who may leave and come back.
  if (isCancel) return paused(services.config, request, visit);
  const report = { kind: "general", problem: "nothing_linked" } as const;
  return await connectPage(services, request, visit, { status: 422, report });
}

/** Answers for a session that has ended. Leads back to the platform if the end user completed it. */
async function endSession(
  services: ConnectionsDeps,
  request: BrowserRequest,
  ref: OpenVisit["session"],
): Promise<BrowserAnswer> {
  const session = await services.stores.connectSessions.find(ref);
  return session?.status === "completed"
    ? leave(services, request, session)
    : endNotice(services, request, session);
}
