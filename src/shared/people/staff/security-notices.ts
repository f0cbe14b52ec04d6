import type { UserRole } from "../../callers/caller.ts";
import type { OwnersNotice } from "../../mail/mail.ts";
import type { User } from "./user.ts";

/** Returns the user as a reader of notices about their account, if the email is verified. */
const alsoOf = (user: User) => (user.emailVerified ? user : undefined);

/** Returns the notice of a user's new or changed role. */
export const roleNotice = (user: User, role: UserRole): OwnersNotice => ({
  kind: "roleChanged",
  values: () => ({ email: user.email, role }),
  also: alsoOf(user),
});

export const removalNotice = (user: User): OwnersNotice => ({
  kind: "ownerRemoved",
  values: () => ({ email: user.email }),
  also: alsoOf(user),
});
