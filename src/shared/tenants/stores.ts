import type { Commit } from "../partition/partition.ts";
import type { Tables } from "../runtime/storage/tables.ts";
import { ApplicationStore } from "./applications/application-store.ts";
import { InvitationStore } from "../people/invitations/invitation-store.ts";
import { KeyStore } from "./keys/key-store.ts";
import { LinkStore } from "../people/links/link-store.ts";
import { ClosingStore } from "./platforms/closing-store.ts";
import { PlatformStore } from "./platforms/platform-store.ts";
import { ProfileStore } from "./profiles/profile-store.ts";
import { EmailStore } from "../people/staff/email-store.ts";
import { UserStore } from "../people/staff/user-store.ts";

export type TenantStores = ReturnType<typeof createTenantStores>;

/** Creates the stores of the rows that requests are checked against. A change of these raises the access version. */
export function createTenantStores({ core, keys, emails, links }: Tables, commit: Commit) {
  return {
    platforms: new PlatformStore(core, commit),
    closings: new ClosingStore(core, commit),
    users: new UserStore(core, commit),
    emails: new EmailStore(emails),
    links: new LinkStore(links),
    invitations: new InvitationStore(core, commit),
    applications: new ApplicationStore(core, commit),
    keys: new KeyStore(keys, core, commit),
    profiles: new ProfileStore(core, commit),
  };
}
