import type { ConnectionRef } from "../../connections/connection.ts";
import type { NetworkName } from "../../networks/lookup.ts";
import type { BackgroundDeps } from "../deps.ts";
import { byProfile, checkAccountsOfProfile, type ProfileChecks } from "./check-profile-accounts.ts";
import { pacedOutbound } from "./paced-outbound.ts";
import { isRotating, resealPlatform } from "./reseal-platform.ts";
import type { HeldWalk, Walk } from "./walk-store.ts";

/** A day, less what a timer may be late: rounds begin at the same hour. */
const ROUND_MS = 23.5 * 60 * 60 * 1000;
/** The host ends a run after five minutes; a page takes two at worst, when not one of its servers answers. */
const RUN_MS_MAX = 150 * 1000;
const LEASE_MS = 5 * 60 * 1000;
const PLATFORMS_OF_PAGE = 50;

/** How much one run does. */
interface Bounds {
  readonly connectionsMin: number;
  readonly connectionsOfPage: number;
}
const BOUNDS: Bounds = { connectionsMin: 500, connectionsOfPage: 48 };
const PROFILES_AT_ONCE = 16;
/** A round is spread over the runs of a day, leaving some of them for what outages held up. */
const RUNS_OF_ROUND = 20;

/** One run over a part of the accounts. */
interface Run {
  readonly services: BackgroundDeps;
  readonly startedAt: number;
  readonly connectionsMax: number;
  readonly connectionsOfPage: number;
  held: HeldWalk;
  connections: number;
  readonly tally: Record<keyof ProfileChecks["tally"], number>;
}

/**
 * Checks all linked accounts once a day, a part of them in each run, and seals secrets anew after a rotation of
 * data keys. Safe when missed, doubled or late: the walk goes on where the last run left it, in one run at a time, and
 * whatever is done twice is harmless.
 */
export async function checkAccounts(services: BackgroundDeps, bounds = BOUNDS): Promise<void> {
  const held = await services.walks.take(services.clock.now(), LEASE_MS, ROUND_MS);
  if (held === undefined) return;
  const run: Run = {
    services: { ...services, outbound: pacedOutbound(services.outbound) },
    startedAt: Date.now(),
    connectionsMax: Math.max(
      bounds.connectionsMin,
      Math.ceil(held.walk.connectionsBefore / RUNS_OF_ROUND),
    ),
    connectionsOfPage: bounds.connectionsOfPage,
    held,
    connections: 0,
    tally: { ok: 0, refused: 0, unreachable: 0, skipped: 0, failed: 0 },
  };
  const isOurs = (await walkPlatforms(run)) && (await save(run, {}, null));
  const { isDone, roundAt, sealed, connections } = run.held.walk;
  services.log.info("accounts checked", { ...run.tally, roundAt, isDone, connections });
  if (isOurs && isDone && isRotating(services)) {
    const dataKeys = Object.entries(sealed).map(([id, texts]) => ({ id, texts }));
    services.log.info("sealed texts by data key", { dataKeys });
  }
}

/** False when another run took the walk: this one ends. */
async function save(
  run: Run,
  change: Partial<Walk>,
  leaseUntil = new Date(run.services.clock.now().getTime() + LEASE_MS) as Date | null,
): Promise<boolean> {
  const walk = { ...run.held.walk, ...change };
  const saved = await run.services.walks.save(run.held, walk, leaseUntil);
  if (saved !== undefined) run.held = saved;
  return saved !== undefined;
}

function isUsedUp({ startedAt, connections, connectionsMax }: Run): boolean {
  return connections >= connectionsMax || Date.now() - startedAt > RUN_MS_MAX;
}

/** False when another run took the walk. */
async function walkPlatforms(run: Run): Promise<boolean> {
  while (!isUsedUp(run) && !run.held.walk.isDone) {
    const { platforms, platformId } = run.held.walk;
    const after = platforms === "" ? undefined : platforms;
    const { ids, next } = await run.services.platforms.walk(after, PLATFORMS_OF_PAGE);
    // Of a platform that is gone meanwhile the whole page is walked again.
    for (let at = Math.max(0, ids.indexOf(platformId)); at < ids.length; at += 1) {
      if (isUsedUp(run)) return true;
      if (!(await walkPlatform(run, ids[at] ?? "", ids[at + 1]))) return false;
      if (run.held.walk.connection !== "") return true;
    }
    if (next === undefined) return finish(run);
    if (!(await save(run, { platforms: next, platformId: "", connection: "" }))) return false;
  }
  return true;
}

/** A platform's connections from where the walk is; it then is at the next one. False when another run took it. */
async function walkPlatform(
  run: Run,
  platformId: string,
  nextId: string | undefined,
): Promise<boolean> {
  let after = run.held.walk.platformId === platformId ? run.held.walk.connection : "";
  let keys = after === "" ? await sealedOf(run, platformId) : [];
  do {
    const { refs, last = "" } = await run.services.accountChecks.listRefs(
      platformId,
      after,
      run.connectionsOfPage,
    );
    keys = keys.concat(await checkRefs(run, refs));
    after = last;
    run.connections += refs.length;
    // Most platforms of a page may have none: not worth a write, unless the walk stood in the middle of this one.
    if (refs.length > 0 || keys.length > 0 || run.held.walk.connection !== "") {
      const counted = count(run.held.walk, refs.length, keys);
      const at = {
        platformId: last === "" ? (nextId ?? platformId) : platformId,
        connection: last,
      };
      if (!(await save(run, { ...counted, ...at }))) return false;
      keys = [];
    }
  } while (after !== "" && !isUsedUp(run));
  return true;
}

/** Returns the data key of each sealed text that was seen. */
async function checkRefs(run: Run, refs: readonly ConnectionRef[]): Promise<string[]> {
  const profiles = [...byProfile(refs)];
  const keys: string[] = [];
  for (let start = 0; start < profiles.length; start += PROFILES_AT_ONCE)
    keys.push(...(await checkProfiles(run, profiles.slice(start, start + PROFILES_AT_ONCE))));
  return keys;
}

async function checkProfiles(
  run: Run,
  profiles: readonly (readonly [string, readonly NetworkName[]])[],
): Promise<string[]> {
  const all = await Promise.all(
    profiles.map(([profileId, networks]) =>
      checkAccountsOfProfile(run.services, profileId, networks),
    ),
  );
  for (const { tally } of all) {
    run.tally.ok += tally.ok;
    run.tally.refused += tally.refused;
    run.tally.unreachable += tally.unreachable;
    run.tally.skipped += tally.skipped;
    run.tally.failed += tally.failed;
  }
  return all.flatMap(({ keys }) => keys);
}

async function sealedOf({ services }: Run, platformId: string): Promise<string[]> {
  return isRotating(services) ? resealPlatform(services, platformId) : [];
}

function count(walk: Walk, connections: number, keys: readonly string[]): Partial<Walk> {
  const sealed = { ...walk.sealed };
  for (const key of keys) sealed[key] = (sealed[key] ?? 0) + 1;
  return { sealed, connections: walk.connections + connections };
}

/** What belongs to no platform, and the end of the round. */
async function finish(run: Run): Promise<boolean> {
  const { services } = run;
  const keys: string[] = [];
  let after: string | undefined;
  do {
    if (!isRotating(services)) break;
    const page = await services.hosts.resealPage(after);
    keys.push(...page.keys);
    after = page.next;
  } while (after !== undefined);
  return save(run, { ...count(run.held.walk, 0, keys), isDone: true });
}
