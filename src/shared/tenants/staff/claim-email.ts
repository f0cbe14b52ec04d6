import { AppError } from "../../runtime/errors.ts";
import type { TenantsDeps } from "../deps.ts";
import type { EmailOwner } from "./email-store.ts";

/** A claim this old whose user does not exist is what a crash left behind. */
const ABANDONED_MS = 10 * 60 * 1000;

const taken = () => new AppError("conflict", "There is an account with this e-mail already.");

/**
 * Claims the e-mail for a user who is about to be made, or takes it over from one who never was or is gone.
 * @throws AppError `conflict`
 */
async function claimEmail(services: TenantsDeps, email: string, owner: EmailOwner): Promise<void> {
  const now = services.clock.now();
  const at = now.toISOString();
  if (await services.emails.claim(email, owner, at)) return;
  const existing = await services.emails.find(email);
  if (existing === undefined) throw taken();
  if (existing.userId === owner.userId) return;
  if (now.getTime() - Date.parse(existing.claimedAt) < ABANDONED_MS) throw taken();
  const user = await services.users.find(existing.platformId, existing.userId);
  if (user !== undefined) throw taken();
  if (!(await services.emails.takeOver(email, existing, owner, at))) throw taken();
}

/**
 * Claims the e-mail and then hashes the password, so that a taken e-mail costs no hash. What a crash in between leaves is
 * a claim that can be taken over.
 * @throws AppError `conflict`; `service_unavailable`, and the e-mail is free again
 */
export async function claimAndHash(
  services: TenantsDeps,
  { email, password }: { readonly email: string; readonly password: string },
  owner: EmailOwner,
): Promise<string> {
  await claimEmail(services, email, owner);
  try {
    return await services.passwords.hash(password);
  } catch (error) {
    // Should this fail too, the claim is one that a crash left.
    await services.emails.release(email, owner.userId).catch(() => undefined);
    throw error;
  }
}
