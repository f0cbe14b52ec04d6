import * as z from "zod";
import type { ConnectionRef } from "../../connections/connection.ts";
import type { NetworkName } from "../../networks/lookup.ts";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { addCounts, type TakeStep, type WalkAt, type WalkStep } from "../../runtime/walk-step.ts";
import type { BackgroundDeps } from "../deps.ts";
import { byProfile, checkAccountsOfProfile, type ProfileChecks } from "./check-profile-accounts.ts";
import { pacedOutbound } from "./paced-outbound.ts";
import { isRotating, resealPlatform } from "./reseal-platform.ts";
import { inBatches } from "../../runtime/in-batches.ts";

/** Of the index of platforms. */
const PLATFORMS_OF_PAGE = 1_000;
const PROFILES_AT_ONCE = 16;
/** A round is spread over the runs of a day, leaving some of them for what outages held up. */
const RUNS_OF_ROUND = 20;
/** The count of texts that are sealed with a key. */
const SEALED = "sealed ";

/** How much is done between two times of the schedule. */
interface Bounds {
  readonly connectionsMin: number;
  /** Few enough for a step to end in a minute when not one of their servers answers. */
  readonly connectionsOfPage: number;
}
const BOUNDS: Bounds = { connectionsMin: 500, connectionsOfPage: 16 };

const positionShape = shape(() =>
  z.object({
    /** The place in the index of the last platform that was finished; "" at the beginning. */
    platforms: z.string(),
    /** The last connection of the platform after it that was looked at; "" for none yet. */
    connection: z.string(),
    /** Looked at since the walk rested. */
    connections: z.number(),
    /** The place in the table of hosts, after all platforms; absent at its beginning. */
    hosts: z.string().optional(),
  }),
);
type Position = ShapeOf<typeof positionShape>;
const START: Position = { platforms: "", connection: "", connections: 0 };

interface Listed {
  readonly id: string;
  readonly after: string;
}

/** The platforms in the order of their index, read ahead. */
class PlatformsAhead {
  readonly #services: BackgroundDeps;
  #after = "";
  #items: readonly Listed[] = [];
  #isLastPage = false;

  constructor(services: BackgroundDeps) {
    this.#services = services;
  }

  async next(after: string): Promise<Listed | undefined> {
    const at = this.#items.findIndex((item) => item.after > after);
    const isKnown = this.#items.length > 0 && after >= this.#after;
    if (isKnown && (at >= 0 || this.#isLastPage)) return this.#items[at];
    const from = after === "" ? undefined : after;
    const { items, next } = await this.#services.platforms.listIds(from, PLATFORMS_OF_PAGE);
    this.#after = after;
    this.#items = items;
    this.#isLastPage = next === undefined;
    return items[0];
  }
}

/** Looks at a page of a platform's connections. */
async function checkRefs(
  services: BackgroundDeps,
  refs: readonly ConnectionRef[],
): Promise<ProfileChecks[]> {
  const profiles = [...byProfile(refs)];
  const check = ([profileId, networks]: readonly [string, readonly NetworkName[]]) =>
    checkAccountsOfProfile(services, profileId, networks);
  return inBatches(profiles, PROFILES_AT_ONCE, check);
}

function countsOf(
  checks: readonly ProfileChecks[],
  keys: readonly string[],
): Record<string, number> {
  const counts = checks.reduce((sum, { tally }) => addCounts(sum, tally), {});
  return keys.reduce((sum, key) => addCounts(sum, { [SEALED + key]: 1 }), counts);
}

/** What belongs to no platform, and the end of the round. */
async function finish(services: BackgroundDeps, at: WalkAt, position: Position): Promise<WalkStep> {
  if (!isRotating(services)) return { next: undefined };
  const page = await services.hosts.resealPage(position.hosts);
  const counts = countsOf([], page.keys);
  if (page.next !== undefined)
    return { next: JSON.stringify({ ...position, hosts: page.next }), counts };
  const dataKeys = Object.entries(addCounts(at.counts, counts))
    .filter(([name]) => name.startsWith(SEALED))
    .map(([name, texts]) => ({ id: name.slice(SEALED.length), texts }));
  services.log.info("sealed texts by data key", { dataKeys });
  return { next: undefined, counts };
}

/**
 * Makes the steps that check all linked accounts once a day, a part of them at each time of the schedule, and seal
 * secrets anew after a rotation of data keys. Whatever is done twice is harmless.
 */
export function checkAccounts(services: BackgroundDeps, bounds = BOUNDS): TakeStep {
  const paced = { ...services, outbound: pacedOutbound(services.outbound) };
  const platforms = new PlatformsAhead(services);
  return async (at) => {
    const position =
      at.position === undefined ? START : positionShape().parse(JSON.parse(at.position));
    const platform = await platforms.next(position.platforms);
    if (platform === undefined) return finish(services, at, position);
    const isFirst = position.connection === "";
    const keys = isFirst && isRotating(services) ? await resealPlatform(services, platform.id) : [];
    const { accountChecks } = services;
    const { refs, last } = await accountChecks.listRefs(
      platform.id,
      position.connection,
      bounds.connectionsOfPage,
    );
    const checks = await checkRefs(paced, refs);
    const counts = countsOf(checks, [...keys, ...checks.flatMap((one) => one.keys)]);
    const max = Math.max(
      bounds.connectionsMin,
      Math.ceil((at.lastCounts["connections"] ?? 0) / RUNS_OF_ROUND),
    );
    const connections = position.connections + refs.length;
    const rests = connections >= max;
    const next: Position = {
      platforms: last === undefined ? platform.after : position.platforms,
      connection: last ?? "",
      connections: rests ? 0 : connections,
    };
    return {
      next: JSON.stringify(next),
      counts: { ...counts, connections: refs.length },
      rests,
    };
  };
}
