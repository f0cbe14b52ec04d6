import { AppError } from "../../runtime/errors.ts";
import { equalSecrets, sha256Hex } from "../../runtime/secrets.ts";
import type { PeopleDeps } from "../deps.ts";
import { findLink, type LinkDeps, type StoredUser } from "./links.ts";
import { KINDS_OF_PAGE, type LinkPage, type UsedLink } from "./schema.ts";

/** How long the browser that used a link is told that it worked: for a double click, a reload, a way back. */
const REPEAT_MS_MAX = 10 * 60_000;

/** The form of a link's page, and the browser that showed it. Absent for a use by the API. */
export interface OneTimeLinkForm {
  readonly token: string;
  readonly browserId: string;
}

/** Returns what is stored of a link's use in the transaction that uses it up. */
export function usedLink(
  { clock }: Pick<PeopleDeps, "clock">,
  form: OneTimeLinkForm | undefined,
): { readonly usedLink?: UsedLink } {
  if (form === undefined) return {};
  const [tokenHash, browserHash] = [sha256Hex(form.token), sha256Hex(form.browserId)];
  return { usedLink: { tokenHash, browserHash, at: clock.now().toISOString() } };
}

/** Finds the user whom a link concerns, whether the link still works or not. */
async function findUserOf(
  deps: LinkDeps,
  page: LinkPage,
  token: string,
): Promise<StoredUser | undefined> {
  const { invitations, users } = deps.stores;
  const { link } = await findLink(deps, KINDS_OF_PAGE[page], token);
  const { platformId, userId } = link;
  if (page !== "invitation") return await users.find(platformId, userId);
  const invitation = await invitations.find(platformId, userId);
  return invitation?.status === "accepted"
    ? await users.find(platformId, invitation.userId)
    : undefined;
}

/** A link that was used: the user, and whether this browser used it within the last ten minutes. */
interface PastUse {
  readonly user: StoredUser;
  readonly isRepeat: boolean;
}

/**
 * Finds the use of a link that doesn't work any more. Of links other than invitations, only the last one that a user used
 * by its page is known.
 */
export async function findPastUse(
  deps: LinkDeps,
  page: LinkPage,
  { token, browserId = "" }: { readonly token: string; readonly browserId?: string | undefined },
): Promise<PastUse | undefined> {
  try {
    const user = await findUserOf(deps, page, token);
    if (user === undefined) return undefined;
    const { usedLink: used } = user;
    const isOf = (hash: string, text: string) =>
      equalSecrets(Buffer.from(hash), Buffer.from(sha256Hex(text)));
    const isRepeat =
      used !== null &&
      deps.clock.now().getTime() - Date.parse(used.at) < REPEAT_MS_MAX &&
      isOf(used.tokenHash, token) &&
      isOf(used.browserHash, browserId);
    return isRepeat || page === "invitation" ? { user, isRepeat } : undefined;
  } catch (error) {
    if (error instanceof AppError && error.code === "invalid_link") return undefined;
    throw error;
  }
}
