import type { NetworkName } from "../networks/networks.ts";
import { inBatches } from "../runtime/promises.ts";
import { checkAccount, type CheckResult } from "./check-account.ts";
import type { ProfileRef } from "./connection.ts";
import type { Config } from "../config/config.ts";
import type { Log } from "../runtime/log.ts";
import type { ConnectionsDeps } from "./deps.ts";

const PROFILES_AT_ONCE = 16;

/** Reports whether some rows may need sealing with the first key. With only one key, none does. */
export function isRotating(config: Config): boolean {
  return config.identity.dataKeys.size > 1;
}

/** How many accounts each check found in which state. */
type Tally = Readonly<Record<CheckResult | "failed", number>>;

/** Results of checking a profile's accounts. */
export interface ProfileChecks {
  readonly tally: Tally;
  /** The data key of each sealed text that was read. */
  readonly keys: readonly string[];
}

/** Runs one check. Its failure must not stop the others. */
async function guarded<T>(
  log: Log,
  what: Readonly<Record<string, string>>,
  run: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    log.error("an account could not be checked", { ...what, error });
    return undefined;
  }
}

/** Checks these of a profile's accounts, and seals their secrets again after a rotation of data keys. */
export async function checkAccountsOfProfile(
  services: ConnectionsDeps,
  profile: ProfileRef,
  networks: readonly NetworkName[],
): Promise<ProfileChecks> {
  const { profileId } = profile;
  const tally = { ok: 0, refused: 0, unreachable: 0, skipped: 0, failed: 0 };
  const keys: string[] = [];
  const resealOne = async (network: NetworkName): Promise<void> => {
    const key = await guarded(services.log, { profileId, network }, async () =>
      isRotating(services.config)
        ? services.stores.accountChecks.reseal({ ...profile, network })
        : undefined,
    );
    if (key !== undefined) keys.push(key);
  };
  await Promise.all(networks.map(resealOne));
  const linked = await guarded(services.log, { profileId }, () =>
    services.stores.connections.listOfProfile(profile),
  );
  await Promise.all(
    (linked ?? [])
      .filter(({ network }) => networks.includes(network))
      .map(async (connection) => {
        const { id } = connection;
        const checked = await guarded(services.log, { profileId, connection: id }, () =>
          checkAccount(services, connection),
        );
        tally[checked ?? "failed"] += 1;
      }),
  );
  const unlisted = networks.filter((name) => linked?.every(({ network }) => network !== name));
  for (const network of unlisted) {
    // The connection is gone by now, or its row is damaged: a list leaves it out.
    const read = await guarded(services.log, { profileId, network }, async () => {
      await services.stores.connections.find({ ...profile, network });
      return "read";
    });
    if (read === undefined) tally.failed += 1;
  }
  return { tally, keys };
}

/** Checks a page of a platform's accounts. `after` is "" for the first page, and `next` is undefined after the last. */
export async function checkAccountsOf(
  services: ConnectionsDeps,
  platformId: string,
  { after, limit }: { readonly after: string; readonly limit: number },
) {
  const { refs, last: next } = await services.stores.accountChecks.listRefs(
    platformId,
    after,
    limit,
  );
  const check = ([profileId, networks]: readonly [string, readonly NetworkName[]]) =>
    checkAccountsOfProfile(services, { platformId, profileId }, networks);
  // Groups connections by profile, because those of one profile are one query.
  const profiles = new Map<string, NetworkName[]>();
  for (const { profileId, network } of refs)
    profiles.set(profileId, [...(profiles.get(profileId) ?? []), network]);
  const checks = await inBatches([...profiles], PROFILES_AT_ONCE, check);
  return { accounts: refs.length, next, checks };
}
