import type { PeopleDeps } from "../deps.ts";
import type { User } from "./user.ts";

const PAGE_USERS = 100;
/** The number of mails in one transaction. */
const OWNERS_MAX = 50;

/**
 * Lists the owners who get mail about the whole platform: those with verified e-mails, at most as many as one
 * transaction has mails.
 */
export async function listOwners(
  { stores }: Pick<PeopleDeps, "stores">,
  platformId: string,
): Promise<readonly User[]> {
  const owners: User[] = [];
  let after: string | undefined;
  do {
    const { items, next } = await stores.users.list(platformId, after, PAGE_USERS);
    owners.push(...items.filter(({ role, emailVerified }) => role === "owner" && emailVerified));
    after = next;
  } while (after !== undefined && owners.length < OWNERS_MAX);
  return owners.slice(0, OWNERS_MAX);
}
