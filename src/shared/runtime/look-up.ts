import { Resolver } from "node:dns/promises";

/** An address that nobody tells in this time is checked when it is dialled. */
const ANSWER_MS_MAX = 1_500;

/** Returns the addresses that a name leads to now; none where nobody can tell in time. Never throws. */
export type LookUp = (host: string) => Promise<readonly string[]>;

/**
 * Asks name servers, and no thread of the process waits for them: a name whose server is silent, chosen by somebody who
 * means harm, would keep one from files and hashes.
 */
export const lookUp: LookUp = async (host) => {
  const resolver = new Resolver({ timeout: ANSWER_MS_MAX, tries: 1 });
  const timer = setTimeout(() => resolver.cancel(), ANSWER_MS_MAX);
  const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  clearTimeout(timer);
  return found.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
};
