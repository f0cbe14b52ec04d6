import { AppError } from "../errors.ts";
import { newId } from "../ids.ts";
import type { Services } from "../services.ts";
import type { EmailOwner } from "./email-store.ts";
import type { Platform } from "./platform.ts";
import type { User } from "./user.ts";

/** A claim this old whose user does not exist is what a crash left behind. */
const ABANDONED_MS = 10 * 60 * 1000;

const taken = () => new AppError("conflict", "There is an account with this e-mail already.");

/** Claims the e-mail for the user, or takes it over from a sign-up that never ended. @throws AppError `conflict` */
async function claimEmail(services: Services, email: string, owner: EmailOwner): Promise<void> {
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

export interface NewPlatform {
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

/**
 * A platform with its first user. The e-mail is claimed first; then both appear in one transaction, so that a crash
 * leaves either nothing or a claim that can be taken over after ten minutes.
 * @throws AppError `conflict` when somebody signs in with the e-mail already
 */
export async function openPlatform(
  services: Services,
  { name, email, password }: NewPlatform,
): Promise<{ readonly platform: Platform; readonly user: User }> {
  const passwordHash = await services.passwords.hash(password);
  const now = services.clock.now();
  const createdAt = now.toISOString();
  const platform: Platform = {
    id: newId("platform", now),
    name,
    status: "active",
    createdAt,
    updatedAt: createdAt,
  };
  const user: User = {
    id: newId("user", now),
    platformId: platform.id,
    email,
    passwordHash,
    sessionVersion: 1,
    totpEnabled: false,
    createdAt,
    lastLoginAt: null,
  };
  await claimEmail(services, email, { platformId: platform.id, userId: user.id });
  await services.platforms.createWithOwner(platform, user);
  return { platform, user };
}
