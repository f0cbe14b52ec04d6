import type { Commit } from "../partition/partition.ts";
import type { Tables } from "../runtime/storage/tables.ts";
import { InvitationStore } from "./invitations/invitation-store.ts";
import { LinkStore } from "./links/link-store.ts";
import { EmailStore } from "./staff/email-store.ts";
import { UserStore } from "./staff/user-store.ts";

export type PeopleStores = ReturnType<typeof createPeopleStores>;

export function createPeopleStores({ core, emails, links }: Tables, commit: Commit) {
  return {
    users: new UserStore(core, commit),
    emails: new EmailStore(emails),
    links: new LinkStore(links),
    invitations: new InvitationStore(core, commit),
  };
}
