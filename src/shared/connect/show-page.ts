import type { LinkField, Network, NetworkApp, NetworkName } from "../networks/network.ts";
import { findAvailable, findNetwork } from "../networks/registry.ts";
import type { Services } from "../services.ts";
import { stepAddress } from "./addresses.ts";
import { formTargets, pageAnswer, type BrowserAnswer, type BrowserRequest } from "./browser.ts";
import { findChoice } from "./choice.ts";
import { linkedIds } from "./connect-session.ts";
import { networkName } from "./connection-row.ts";
import type { Connection } from "./connection.ts";
import { problemMessage, readProblem, type LinkProblem } from "./link-messages.ts";
import { renderConnectPage, type Card, type OpenChoice } from "./page.ts";
import { isProfileActive } from "./profile-state.ts";
import { deadEnd, openVisit, type OpenVisit } from "./visit.ts";

/** What the page has to say about a network's card: what did not work there and was typed, or what is to be chosen. */
export interface Attention {
  readonly problem: LinkProblem | null;
  /** Null: it is about the page as a whole. */
  readonly network: NetworkName | null;
  readonly typed: Readonly<Record<string, string>>;
  readonly choice?: OpenChoice;
}

/** GET of the hosted page, with what the last step left in its address. */
export async function showPage(
  services: Services,
  request: BrowserRequest,
  fields: Readonly<Record<string, string>>,
): Promise<BrowserAnswer> {
  const visit = await openVisit(services, fields);
  if (visit.kind === "unknown") return deadEnd(services, undefined);
  if (visit.kind === "over") return deadEnd(services, visit.session);
  if (!(await isProfileActive(services, visit.session))) return deadEnd(services, visit.session);
  const problem = readProblem(fields["problem"]);
  const network = networkName.safeParse(fields["network"]).data ?? null;
  const attention = { network, typed: {} };
  if (problem !== undefined)
    return await connectPage(services, visit, 200, { ...attention, problem });
  if (network === null || fields["choice"] === undefined)
    return await connectPage(services, visit, 200);
  const choice = await findChoice(services, request, { visit, network, choice: fields["choice"] });
  return choice === undefined
    ? await connectPage(services, visit, 200, { ...attention, problem: "step_over" })
    : await connectPage(services, visit, 200, { ...attention, problem: null, choice });
}

/** The page of an open session; what was typed is kept, secrets excepted. */
export async function connectPage(
  services: Services,
  { session, token }: OpenVisit,
  status: number,
  attention?: Attention,
): Promise<BrowserAnswer> {
  const connections = await services.connections.listOfProfile(session.profileId);
  const cards = session.networks.map((network) =>
    toCard(
      services,
      network,
      connections.find((made) => made.network === network && made.status !== "revoked"),
      attention?.network === network ? attention : undefined,
    ),
  );
  const general = attention?.network === null ? attention.problem : null;
  const page = {
    sessionId: session.id,
    token,
    branding: session.branding,
    cards,
    problem: general === null ? null : problemMessage(general, ""),
    hasLinked: linkedIds(session).length > 0,
    doneAction: stepAddress(services.config, "done"),
  };
  const targets = formTargets(services, session);
  return pageAnswer(status, (nonce) => renderConnectPage(page, nonce), targets);
}

/** A network that is not part of this build goes by its name. */
function toCard(
  services: Services,
  name: NetworkName,
  connection: Connection | undefined,
  attention: Attention | undefined,
): Card {
  const network = findNetwork(name);
  const isAvailable = findAvailable(name, services.config.networkApps) !== undefined;
  const title = network?.title ?? name.charAt(0).toUpperCase() + name.slice(1);
  return {
    network: name,
    title,
    ...shownAccount(connection),
    state: isAvailable ? stateOf(connection) : "unavailable",
    fields: askedFields(network, services.config.networkApps[name]),
    leaves: network?.link.kind === "oauth",
    action: stepAddress(services.config, name),
    ...shownAttention(attention, title),
  };
}

/** What this deployment's form asks for. */
function askedFields(
  network: Network | undefined,
  app: NetworkApp | undefined,
): readonly LinkField[] {
  const fields: readonly LinkField[] = network?.link.fields ?? [];
  return fields.filter(({ isAsked }) => isAsked === undefined || isAsked(app));
}

function shownAttention(
  attention: Attention | undefined,
  title: string,
): Pick<Card, "typed" | "problem" | "choice"> {
  if (attention === undefined) return { typed: {}, problem: null, choice: null };
  const { typed, problem, choice = null } = attention;
  return { typed, problem: problem === null ? null : problemMessage(problem, title), choice };
}

function shownAccount(connection: Connection | undefined): Pick<Card, "username" | "avatarUrl"> {
  if (connection === undefined) return { username: null, avatarUrl: null };
  const { username, displayName, avatarUrl } = connection.account;
  return { username: username === "" ? displayName : username, avatarUrl };
}

function stateOf(connection: Connection | undefined): Card["state"] {
  if (connection === undefined) return "unlinked";
  return connection.status === "needs_reauth" ? "needs_reauth" : "linked";
}
