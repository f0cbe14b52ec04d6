import { bounded, boundedLinked } from "./bounded.ts";
import type { Services } from "../../src/shared/compose.ts";
import type { Connection } from "../../src/shared/connections/connection.ts";
import type { LinkedAccount } from "../../src/shared/networks/contract/link.ts";
import type { NetworkName } from "../../src/shared/networks/networks.ts";
import { newId } from "../../src/shared/runtime/ids.ts";

// What is stored and what no route shows or sets. Tests ask here instead of the modules' private stores.

interface ProfileOf {
  readonly platformId: string;
  readonly profileId: string;
}

/** The connections of a profile, as they are stored. */
export const connectionsOf = ({ connections }: Services, owner: ProfileOf) =>
  connections.stores.connections.listOfProfile(owner);

export const findConnection = (
  { connections }: Services,
  { platformId, profileId }: ProfileOf,
  network: NetworkName,
) => connections.stores.connections.find({ platformId, profileId, network });

/** Throws when nothing is linked. */
export async function connectionOf(
  services: Services,
  owner: ProfileOf,
  network: NetworkName,
): Promise<Connection> {
  const found = await findConnection(services, owner, network);
  if (found === undefined) throw new Error(`nothing is linked at ${network}`);
  return found;
}

/** The credentials of a profile's connection; undefined where they ended with it. */
export async function credentialsOf(services: Services, owner: ProfileOf, network: NetworkName) {
  const connection = await connectionOf(services, owner, network);
  return services.connections.stores.connections.openCredentials(connection);
}

interface NewConnection extends ProfileOf {
  readonly applicationId: string;
  /** The id of a connection that is linked again; absent for a new one. */
  readonly connectionId?: string | undefined;
}

/** Links an account without a sign-in, and returns the id of its connection. */
export async function saveLinked(
  { connections, clock }: Services,
  { connectionId: id = newId("connection", clock.now()), ...place }: NewConnection,
  network: NetworkName,
  linked: LinkedAccount,
): Promise<string> {
  const { platformId, applicationId, profileId } = place;
  const owner = { platformId, applicationId, profileId };
  const saved = await connections.stores.connections.saveLinked({
    ...owner,
    id,
    network,
    linked: boundedLinked(linked),
  });
  return saved.connection.id;
}

export const revokeConnection = ({ connections }: Services, connection: Connection) =>
  connections.stores.connections.revoke(connection);

/** Gives an account other limits than its network said when it was linked. */
export async function setLimits(
  services: Services,
  owner: ProfileOf,
  network: NetworkName,
  limits: Connection["limits"],
): Promise<void> {
  const known = await connectionOf(services, owner, network);
  const { accountChecks } = services.connections.stores;
  await accountChecks.saveLimits(
    known,
    bounded({ ...known.limits, ...limits }),
    services.clock.now(),
  );
}

/** Removes what is stored of a server: the next sign-in asks it again. */
export const forgetHost = ({ connections }: Services, host: string) =>
  connections.stores.hosts.save("mastodon", host, {});

export const userOf = ({ people }: Services, platformId: string, userId: string) =>
  people.stores.users.find(platformId, userId);
