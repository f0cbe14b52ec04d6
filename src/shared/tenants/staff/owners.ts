import type { TenantsDeps } from "../deps.ts";
import type { User } from "./user.ts";

const PAGE_USERS = 100;

/** Lists a platform's owners whose e-mails are verified: those whom mail about the whole platform is for. */
export async function listOwners(
  { stores }: Pick<TenantsDeps, "stores">,
  platformId: string,
): Promise<readonly User[]> {
  const owners: User[] = [];
  let after: string | undefined;
  do {
    const { items, next } = await stores.users.list(platformId, after, PAGE_USERS);
    owners.push(...items.filter(({ role, emailVerified }) => role === "owner" && emailVerified));
    after = next;
  } while (after !== undefined);
  return owners;
}
