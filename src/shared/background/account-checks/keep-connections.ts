import { checkConnection, type Checked } from "../../connections/check-connection.ts";
import type { ConnectionPlace } from "../../connections/connection-index-store.ts";
import type { NetworkName } from "../../networks/lookup.ts";
import type { BackgroundDeps } from "../deps.ts";
import { isRotating } from "./reseal-platform.ts";

/** What came of looking at connections, by how many. */
type Tally = Readonly<Record<Checked | "failed", number>>;

export interface Kept {
  readonly tally: Tally;
  /** The data key of each sealed text that was seen. */
  readonly keys: readonly string[];
}

/** Connections of one profile are one query. */
export function byProfile(places: readonly ConnectionPlace[]): Map<string, NetworkName[]> {
  const profiles = new Map<string, NetworkName[]>();
  for (const { profileId, network } of places)
    profiles.set(profileId, [...(profiles.get(profileId) ?? []), network]);
  return profiles;
}

/** One that can't be looked after must not keep the others from it. */
async function guarded<T>(
  services: BackgroundDeps,
  what: Readonly<Record<string, string>>,
  run: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    services.log.error("a connection could not be looked after", { ...what, error });
    return undefined;
  }
}

export async function keepConnections(
  services: BackgroundDeps,
  profileId: string,
  networks: readonly NetworkName[],
): Promise<Kept> {
  const tally = { ok: 0, refused: 0, unreachable: 0, skipped: 0, failed: 0 };
  const keys: string[] = [];
  const keep = async (network: NetworkName): Promise<void> => {
    const key = await guarded(services, { profileId, network }, async () =>
      isRotating(services) ? services.connectionUpkeep.reseal(profileId, network) : undefined,
    );
    if (key !== undefined) keys.push(key);
  };
  await Promise.all(networks.map(keep));
  const linked = await guarded(services, { profileId }, () =>
    services.connections.listOfProfile(profileId),
  );
  await Promise.all(
    (linked ?? [])
      .filter(({ network }) => networks.includes(network))
      .map(async (connection) => {
        const { id } = connection;
        const checked = await guarded(services, { profileId, connection: id }, () =>
          checkConnection(services, connection),
        );
        tally[checked ?? "failed"] += 1;
      }),
  );
  return { tally, keys };
}
