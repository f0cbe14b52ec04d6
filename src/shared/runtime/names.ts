import type { LookupAddress } from "node:dns";
import { NOTFOUND, Resolver } from "node:dns/promises";
import { FairLimit } from "./fair-limit.ts";

/** From the request to the addresses, with the time in which the look-up waits for a slot. */
const RESOLVE_MS = 3_000;
/** How long a name server has before it, or the next one, is asked again. */
const ANSWER_MS = 1_000;
/** How long the addresses of one family wait for those of the other: some name servers never answer for IPv6. */
const OTHER_FAMILY_MS = 300;

/**
 * Look-ups at a time. Each has a socket and no thread. One owner's silent names use 16 slots, so that 16 owners would
 * have to act together to fill them all; even then a slot is free within three seconds, and the owner with the fewest
 * look-ups gets it.
 */
const LIMITS = { capacity: 256, perOwner: 16, waitingMax: 1_024, waitMsMax: RESOLVE_MS };

/** Resolves host names that strangers chose. */
export interface Names {
  /**
   * Returns the addresses of a name, IPv4 first; none when it has none, or when no name server tells within three
   * seconds; undefined when a name server says that there is no such name. Never throws. `owner`: whose share of the
   * look-ups is used.
   */
  resolve(host: string, owner: string): Promise<readonly LookupAddress[] | undefined>;
  /** Returns the texts (TXT) of a name; none when no name server tells any in time. Never throws. */
  texts(name: string, owner: string): Promise<readonly string[]>;
}

async function askForTexts(
  name: string,
  servers: readonly string[],
  ms: number,
): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: ANSWER_MS, tries: 2 });
  if (servers.length > 0) resolver.setServers(servers);
  const timer = setTimeout(() => resolver.cancel(), ms);
  try {
    return (await resolver.resolveTxt(name)).map((parts) => parts.join(""));
  } catch {
    return [];
  } finally {
    clearTimeout(timer);
  }
}

/** Asks the name servers for the addresses of both families. */
async function ask(
  host: string,
  servers: readonly string[],
  ms: number,
): Promise<readonly LookupAddress[] | undefined> {
  const resolver = new Resolver({ timeout: ANSWER_MS, tries: 2 });
  if (servers.length > 0) resolver.setServers(servers);
  const timers: NodeJS.Timeout[] = [];
  const cancelIn = (after: number) => timers.push(setTimeout(() => resolver.cancel(), after));
  const found = async (family: 4 | 6, answer: Promise<string[]>): Promise<LookupAddress[]> => {
    const addresses = await answer;
    cancelIn(OTHER_FAMILY_MS);
    return addresses.map((address) => ({ address, family }));
  };
  cancelIn(ms);
  const answers = await Promise.allSettled([
    found(4, resolver.resolve4(host)),
    found(6, resolver.resolve6(host)),
  ]);
  for (const timer of timers) clearTimeout(timer);
  const addresses = answers.flatMap((answer) =>
    answer.status === "fulfilled" ? answer.value : [],
  );
  return addresses.length === 0 && answers.some(saysNoSuchName) ? undefined : addresses;
}

/** Returns whether the name itself is said not to exist, which holds for both families. */
function saysNoSuchName(answer: PromiseSettledResult<unknown>): boolean {
  if (answer.status === "fulfilled") return false;
  // Safe: the resolver rejects with errors of the system.
  return (answer.reason as NodeJS.ErrnoException).code === NOTFOUND;
}

export interface NamesConfig {
  readonly outbound: { readonly nameServers: readonly string[] };
}

/**
 * Creates the resolver for names that strangers chose. It asks name servers itself: `dns.lookup` waits in the process's
 * thread pool, where names whose servers are silent hold up files, password hashes and other look-ups, and can't be
 * canceled. Names are absolute, and `/etc/hosts` is not read.
 */
export function createNames({ outbound }: NamesConfig): Names {
  const { nameServers } = outbound;
  const limit = new FairLimit(LIMITS);
  /** Asks in the time that the wait for a slot leaves. */
  const inTime = async <Found>(
    owner: string,
    find: (ms: number) => Promise<Found>,
    none: Found,
  ) => {
    const endsAt = performance.now() + RESOLVE_MS;
    const found = await limit.run(owner, 1, async () => {
      const ms = endsAt - performance.now();
      return ms > 0 ? await find(ms) : none;
    });
    return found === undefined ? none : found.result;
  };
  return {
    resolve: (host, owner) => inTime(owner, (ms) => ask(host, nameServers, ms), []),
    texts: (name, owner) => inTime(owner, (ms) => askForTexts(name, nameServers, ms), []),
  };
}
