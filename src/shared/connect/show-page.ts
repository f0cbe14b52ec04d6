import type { NetworkName } from "../networks/network.ts";
import { findNetwork } from "../networks/registry.ts";
import type { Services } from "../services.ts";
import { stepAddress } from "./addresses.ts";
import { formTargets, pageAnswer, type BrowserAnswer } from "./browser.ts";
import { linkedIds, type ConnectSession } from "./connect-session.ts";
import { networkName } from "./connection-row.ts";
import type { Connection } from "./connection.ts";
import { problemMessage, readProblem, type LinkProblem } from "./link-messages.ts";
import { renderConnectPage, type Card } from "./page.ts";
import { isProfileActive } from "./profile-state.ts";
import { deadEnd, openVisit } from "./visit.ts";

/** What did not work, at which network, and what was typed there. */
export interface Trouble {
  readonly problem: LinkProblem;
  /** Null: it is about the page as a whole. */
  readonly network: NetworkName | null;
  readonly typed: Readonly<Record<string, string>>;
}

export interface OpenVisit {
  readonly session: ConnectSession;
  readonly token: string;
}

/** GET of the hosted page, with what the last step left in its address. */
export async function showPage(
  services: Services,
  fields: Readonly<Record<string, string>>,
): Promise<BrowserAnswer> {
  const visit = await openVisit(services, fields);
  if (visit.kind === "unknown") return deadEnd(services, undefined);
  if (visit.kind === "over") return deadEnd(services, visit.session);
  if (!(await isProfileActive(services, visit.session))) return deadEnd(services, visit.session);
  const problem = readProblem(fields["problem"]);
  const network = networkName.safeParse(fields["network"]).data ?? null;
  const trouble = problem === undefined ? undefined : { problem, network, typed: {} };
  return await connectPage(services, visit, 200, trouble);
}

/** The page of an open session; with trouble it keeps what was typed, secrets excepted. */
export async function connectPage(
  services: Services,
  { session, token }: OpenVisit,
  status: number,
  trouble?: Trouble,
): Promise<BrowserAnswer> {
  const connections = await services.connections.listOfProfile(session.profileId);
  const cards = session.networks.map((network) =>
    toCard(
      services,
      network,
      connections.find((made) => made.network === network && made.status !== "revoked"),
      trouble?.network === network ? trouble : undefined,
    ),
  );
  const isGeneral = trouble !== undefined && trouble.network === null;
  const page = {
    sessionId: session.id,
    token,
    branding: session.branding,
    cards,
    problem: isGeneral ? problemMessage(trouble.problem, "") : null,
    hasLinked: linkedIds(session).length > 0,
    doneAction: stepAddress(services.config, "done"),
  };
  const targets = formTargets(services, session);
  return pageAnswer(status, (nonce) => renderConnectPage(page, nonce), targets);
}

/** A network that can't be linked here goes by its name. */
function toCard(
  services: Services,
  name: NetworkName,
  connection: Connection | undefined,
  trouble: Trouble | undefined,
): Card {
  const network = findNetwork(name);
  const title = network?.title ?? name.charAt(0).toUpperCase() + name.slice(1);
  return {
    network: name,
    title,
    ...shownAccount(connection),
    state: network === undefined ? "unavailable" : stateOf(connection),
    fields: network?.link.fields ?? [],
    leaves: network?.link.kind === "oauth",
    action: stepAddress(services.config, name),
    typed: trouble?.typed ?? {},
    problem: trouble === undefined ? null : problemMessage(trouble.problem, title),
  };
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
