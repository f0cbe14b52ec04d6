import type { RemovedPage } from "../runtime/walk-step.ts";
import type { PeopleStores } from "./stores.ts";

const PAGE_USERS = 100;

export type PeopleForErasure = ReturnType<typeof peopleForErasure>;

/** Makes what the erasure of a platform needs of its staff. Everything may be repeated. */
export function peopleForErasure({ links, users, emails }: PeopleStores) {
  return {
    clearLinks: (platformId: string, after: string | undefined): Promise<RemovedPage> =>
      links.removeOfPlatform(platformId, after),
    /** Frees the emails of a page of the staff. Returns where the list continues. */
    async freeEmails(platformId: string, after: string | undefined): Promise<string | undefined> {
      const { items, next } = await users.list(platformId, after, PAGE_USERS);
      for (const { id, email } of items) await emails.release(email, id);
      return next;
    },
  };
}
