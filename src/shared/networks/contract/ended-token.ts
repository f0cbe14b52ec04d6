import { createHash } from "node:crypto";
import * as z from "zod";
import { objectShape } from "./fields.ts";
import type { NetworkTools } from "./tools.ts";

/** A token that took the place of an ended one so recently is not refused for its age. */
const RENEWED_MS = 15 * 60_000;

const noteShape = objectShape(() => ({ endedToken: z.string(), at: z.iso.datetime() }));

interface Session<Credentials> {
  readonly nameOf: (credentials: Credentials) => string;
  readonly tokenOf: (credentials: Credentials) => string;
}

interface Holder<Credentials> {
  readonly credentials: Credentials;
  readonly tools: NetworkTools;
}

/**
 * Keeps which tokens ended early. Publishing can't renew one, because only `freshen` has its outcome stored: so a refused
 * token is noted for `freshen` to find.
 */
export function endedTokens<Credentials>({ nameOf, tokenOf }: Session<Credentials>) {
  // Notes outlive the account, so no name of it is in them.
  const keyOf = (credentials: Credentials) => digestOf(nameOf(credentials));
  const notedFor = async ({ credentials, tools }: Holder<Credentials>) =>
    noteShape().safeParse(await tools.hosts.find(keyOf(credentials))).data;
  const has = async (as: Holder<Credentials>): Promise<boolean> =>
    (await notedFor(as))?.endedToken === digestOf(tokenOf(as.credentials));
  /** Returns whether the token took the place of another one that was refused just before. */
  const note = async (as: Holder<Credentials>): Promise<boolean> => {
    const before = await notedFor(as);
    const now = as.tools.now();
    const endedToken = digestOf(tokenOf(as.credentials));
    await as.tools.hosts.save(keyOf(as.credentials), { endedToken, at: now.toISOString() });
    const isOther = before !== undefined && before.endedToken !== endedToken;
    return isOther && now.getTime() - Date.parse(before.at) < RENEWED_MS;
  };
  return { has, note };
}

export function digestOf(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}
