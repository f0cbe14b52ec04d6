import type { LookupAddress } from "node:dns";
import { NOTFOUND, Resolver } from "node:dns/promises";
import { FairLimit } from "./fair-limit.ts";

/** Time limit of a whole look-up, the wait for a slot included. */
const RESOLVE_MS = 3_000;
/** How long one name server has to answer before the same or the next one is asked. */
const ANSWER_MS = 1_000;
/** How long a look-up waits for the other family's addresses. Some name servers never answer for IPv6. */
const OTHER_FAMILY_MS = 300;

/**
 * Limits of concurrent look-ups. Each takes a socket but no thread. One owner whose names never answer can use 16
 * slots, so 16 such owners would have to act together to fill them all. Even then a slot is free within three seconds,
 * and the owner with the fewest look-ups gets it.
 */
const LIMITS = { capacity: 256, perOwner: 16, waitingMax: 1_024, waitMsMax: RESOLVE_MS };

/** Resolves host names that callers chose and that nobody vouches for. */
export interface NameResolver {
  /**
   * Returns the addresses of a name, IPv4 first. The list is empty when the name has none, or when no name server
   * answers within three seconds. The result is undefined when a name server says that the name doesn't exist. Never
   * throws. The look-up counts against the share of `owner`.
   */
  resolve(host: string, owner: string): Promise<readonly LookupAddress[] | undefined>;
  /** Returns the TXT records of a name, or an empty list when no name server answers in time. Never throws. */
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
async function askServers(
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
  // That the name itself doesn't exist is true for both families. Safe: the resolver rejects with the system's errors.
  const isAbsent = answers.some(
    (answer) =>
      answer.status === "rejected" && (answer.reason as NodeJS.ErrnoException).code === NOTFOUND,
  );
  return addresses.length === 0 && isAbsent ? undefined : addresses;
}

export interface NamesConfig {
  readonly outbound: { readonly nameServers: readonly string[] };
}

/**
 * Creates the resolver for names that callers chose. It asks name servers itself, because `dns.lookup` runs in the
 * process's thread pool: there, names whose servers don't answer would delay files, password hashes and other look-ups,
 * and they can't be canceled. Names are absolute, and `/etc/hosts` is not read.
 */
export function createNameResolver({ outbound }: NamesConfig): NameResolver {
  const { nameServers } = outbound;
  const limit = new FairLimit(LIMITS);
  /** Runs a look-up within the time that waiting for a slot has left. */
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
    resolve: (host, owner) => inTime(owner, (ms) => askServers(host, nameServers, ms), []),
    texts: (name, owner) => inTime(owner, (ms) => askForTexts(name, nameServers, ms), []),
  };
}
