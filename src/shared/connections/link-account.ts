import { type Debit, debitWrites, priceOf } from "../ledger/ledger.ts";
import type { PartitionView } from "../partition/partition.ts";
import { AppError } from "../runtime/errors.ts";
import { newId } from "../runtime/ids.ts";
import type { BoundedAccount } from "../networks/contract/bounded.ts";
import type { LinkedAccount } from "../networks/contract/link.ts";
import type { NetworkName } from "../networks/networks.ts";
import type { ConnectionsDeps, TenantsOfLinking } from "./deps.ts";
import { sessionStatus, visitorsOf, withLinked, type ConnectSession } from "./connect-session.ts";
import { connectSessionKey, sessionIn } from "./connect-session-store.ts";
import { LinkRefused, type LinkGuard, type LinkTerms } from "./connection-change.ts";
import { grantIdOf, type Connection } from "./connection.ts";
import { revokeAtNetwork } from "./remove-connection.ts";

export type LinkResult =
  | { readonly kind: "linked"; readonly session: ConnectSession; readonly connection: Connection }
  /** Nothing is linked: the session has ended, the user who started it is gone, or the profile was disabled. */
  | { readonly kind: "closed" }
  /** Nothing is linked: the wallet can't pay for it. */
  | { readonly kind: "unpaid" };

interface LinkingWork {
  readonly session: ConnectSession;
  readonly network: NetworkName;
  readonly linked: BoundedAccount;
  readonly requestId: string;
}

/**
 * Links an account that has signed in, in one transaction with its charge and the session's entry. Linking the same
 * account again is free, also when another one was in between that the end user disconnected. If the account isn't linked, its authorization is ended at the network.
 */
export async function linkAccount(
  services: ConnectionsDeps,
  linking: LinkingWork,
): Promise<LinkResult> {
  const { session, network, linked } = linking;
  const { platformId, applicationId, profileId } = session;
  const id = newId("connection", services.clock.now());
  const owner = { id, platformId, applicationId, profileId };
  const terms = new SessionTerms(services, linking);
  try {
    const saved = await services.stores.connections.saveLinked(
      { ...owner, network, linked },
      terms,
    );
    if (saved.replaced?.credentials !== undefined) {
      const { connection, credentials } = saved.replaced;
      await discard(services, linking, { ...connection, credentials });
    }
    return { kind: "linked", session: terms.session, connection: saved.connection };
  } catch (error) {
    const kind = linkRefusal(error);
    if (kind === undefined) throw error;
    await discard(services, linking, linked);
    return { kind };
  }
}

/** Reports whether the wallet, or the day's budget, can't pay for a link. */
export function isUnpaid(error: unknown): boolean {
  const code = error instanceof AppError ? error.code : undefined;
  return code === "insufficient_tokens" || code === "daily_budget_reached";
}

function linkRefusal(error: unknown): "closed" | "unpaid" | undefined {
  if (error instanceof LinkRefused) return "closed";
  return isUnpaid(error) ? "unpaid" : undefined;
}

/** The terms of a link that a session was started for. */
class SessionTerms implements LinkTerms {
  /** The session after the account was added. */
  session: ConnectSession;
  readonly rowKeys: readonly string[];
  readonly #guard: LinkGuard;
  readonly #linking: LinkingWork;

  constructor(services: ConnectionsDeps, linking: LinkingWork) {
    this.session = linking.session;
    this.#linking = linking;
    this.#guard = services.tenants.linkGuard(linking.session, linking.session.makers);
    this.rowKeys = [connectSessionKey(linking.session.id), ...this.#guard.rowKeys];
  }

  writes(view: PartitionView, { id, isKnown }: { readonly id: string; readonly isKnown: boolean }) {
    const { session, network, linked, requestId } = this.#linking;
    const found = sessionIn(session, view);
    const isOpen = found !== undefined && sessionStatus(found.session, view.now) === "open";
    if (!isOpen || !this.#guard.allows(view)) throw new LinkRefused();
    this.session = withLinked(found.session, { network, connectionId: id });
    const isFree =
      isKnown ||
      found.session.disconnected.some(
        (one) => one.network === network && one.accountId === linked.account.id,
      );
    const price = priceOfLink(session, requestId, network);
    return [found.write(this.session), ...(isFree ? [] : debitWrites(price, view))];
  }
}

export const priceOfLink = (
  { id, applicationId, profileId }: ConnectSession,
  requestId: string,
  network: NetworkName | null = null,
): Debit => ({
  operation: "connections.link",
  tokens: priceOf("connections.link"),
  applicationId,
  profileId,
  postId: null,
  network,
  actor: { kind: "connect_session", id },
  requestId,
});

/** Ends an authorization at the network that was not stored. */
async function discard(
  services: ConnectionsDeps,
  { network, session }: Pick<LinkingWork, "network" | "session">,
  linked: Pick<LinkedAccount, "account" | "grantId" | "instanceUrl" | "credentials">,
): Promise<void> {
  const { instanceUrl, credentials } = linked;
  const grantId = grantIdOf(linked);
  const owner = visitorsOf(session);
  await revokeAtNetwork(services, { network, owner, grantId, instanceUrl, credentials });
}

/**
 * Reports whether accounts may be linked to the profile now. The platform may disable it while the browser's session is
 * open.
 */
export async function isProfileActive(
  tenants: TenantsOfLinking,
  owner: {
    readonly platformId: string;
    readonly applicationId: string;
    readonly profileId: string;
  },
): Promise<boolean> {
  const { platformId, applicationId, profileId } = owner;
  const [platform, application, profile] = await Promise.all([
    tenants.findPlatform(platformId),
    tenants.findApplication(platformId, applicationId),
    tenants.findProfile(platformId, profileId),
  ]);
  return [platform, application, profile].every((part) => part?.status === "active");
}
