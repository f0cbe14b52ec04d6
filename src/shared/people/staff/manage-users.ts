import type { SessionScope } from "../../callers/scope.ts";
import { type Asker, knownUser } from "../../limits/limits.ts";
import { isMailOn } from "../../mail/mail.ts";
import { AppError, notFound, refuseIssues, type ErrorCode } from "../../runtime/errors.ts";
import { isId, newId } from "../../runtime/ids.ts";
import { inBatches } from "../../runtime/promises.ts";
import { undefinedIfDamaged } from "../../runtime/storage/damaged-row.ts";
import { toPage, type Page } from "../../runtime/page.ts";
import type { RemovedPage } from "../../runtime/walk-step.ts";
import type { PeopleDeps } from "../deps.ts";
import { withVerification } from "../links/send-verification.ts";
import type { Row } from "../../runtime/storage/row.ts";
import type { EmailClaim, EmailOwner } from "./email-store.ts";
import type { CreateUser, ListUsers, UpdateUser } from "./schema.ts";
import { hashNewPassword, type NewPassword } from "./weak-passwords.ts";
import { removalNotice, roleNotice } from "./security-notices.ts";
import { admitOwnersNotice, writeWithOwnersNotice } from "../../mail/mail.ts";
import { POINTERS_YOUNG_MS, requireConfirmed, requireOwner } from "../../tenants/tenants.ts";
import { isEmailOf, newUser, viewUser, type User, type UserView } from "./user.ts";

/** A claim of this age without a user was left behind by a crash. */
const ABANDONED_MS = 10 * 60 * 1000;

/** How long an account waits for its email to be verified. A link lasts a week, and can be asked for again. */
const UNVERIFIED_MS = 30 * 24 * 60 * 60 * 1000;

/** How many claims are checked at the same time. */
const CLAIMS_AT_ONCE = 16;

const taken = () => new AppError("conflict", "There is already an account with this email.");

/** What a claim means for another user who wants the email. */
type ClaimState =
  | { readonly kind: "own" | "abandoned" | "taken" }
  /** The user has not proved to own the address, and so can't block it for others. */
  | { readonly kind: "unverified"; readonly user: User };

async function stateOfClaim(
  deps: Pick<PeopleDeps, "config" | "clock" | "stores">,
  email: string,
  existing: EmailClaim,
  owner: EmailOwner,
): Promise<ClaimState> {
  const stored = await deps.stores.users.find(existing.platformId, existing.userId);
  // A user who now logs in with another address has left the claim behind.
  const user = stored !== undefined && isEmailOf(stored, email) ? stored : undefined;
  const isYoung = deps.clock.now().getTime() - Date.parse(existing.claimedAt) < ABANDONED_MS;
  // The claim of an earlier try, which the purge leaves alone while it is new.
  if (existing.userId === owner.userId && (user !== undefined || isYoung)) return { kind: "own" };
  if (user === undefined) return { kind: isYoung ? "taken" : "abandoned" };
  return user.emailVerified || !isMailOn(deps.config)
    ? { kind: "taken" }
    : { kind: "unverified", user };
}

/**
 * Claims the email for a user to be created. Takes over the claim of a user who was never stored or is deleted.
 * @throws AppError `conflict`
 */
export async function claimEmail(
  deps: Pick<PeopleDeps, "config" | "clock" | "stores" | "tenants">,
  email: string,
  owner: EmailOwner,
): Promise<void> {
  const at = deps.clock.now().toISOString();
  const { emails, users } = deps.stores;
  if (await emails.claim(email, owner, at)) return;
  const existing = await emails.find(email);
  if (existing === undefined) throw taken();
  const state = await stateOfClaim(deps, email, existing, owner);
  if (state.kind === "own") return;
  if (state.kind === "taken") throw taken();
  // Also removes the platform that was created with the user, if it holds nothing else.
  if (state.kind === "unverified") {
    if (!(await users.removeUnverified(state.user, deps.tenants.unlist))) throw taken();
  }
  if (!(await emails.takeOver(email, existing, owner, at))) throw taken();
}

/**
 * Hashes the password of a user to be created and then claims the email, so that a refused password changes nothing.
 * Nothing is hashed for an email that is taken by then.
 * @throws AppError `conflict`; `validation_failed` for a weak password; `service_unavailable`
 */
export async function hashAndClaim(
  deps: PeopleDeps,
  asker: Asker,
  asked: NewPassword,
  owner: EmailOwner,
): Promise<string> {
  const { email } = asked;
  const existing = await deps.stores.emails.find(email);
  const state = existing && (await stateOfClaim(deps, email, existing, owner));
  if (state?.kind === "taken") throw taken();
  const passwordHash = await hashNewPassword(deps, asker, asked);
  await claimEmail(deps, email, owner);
  return passwordHash;
}

/** Stores the user and notifies the owners. If the user was definitely refused, the email is free again. */
async function store(deps: PeopleDeps, user: User): Promise<void> {
  const { platformId, role } = user;
  const create = (more: readonly Row[]) =>
    withVerification(deps, user, (rows) => deps.stores.users.create(user, [...rows, ...more]));
  // The caller has just created the user, who therefore needs no notice.
  const notice = { ...roleNotice(user, role), also: undefined };
  try {
    if (role === "owner") await writeWithOwnersNotice(deps.mail, platformId, notice, create);
    else await create([]);
  } catch (error) {
    if (error instanceof AppError && error.code !== "service_unavailable")
      await deps.stores.emails.release(user.email, user.id).catch(() => undefined);
    throw error;
  }
}

const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  "conflict",
  "rate_limited",
  "invitation_required",
]);

/**
 * Creates a colleague of the caller. The email is claimed first. A claim that a crash leaves behind can be taken over.
 * @throws AppError `invitation_required`, `rate_limited`, `validation_failed`, `service_unavailable`; `conflict` when somebody already signs
 * in with the email
 */
export async function createUser(
  deps: PeopleDeps,
  scope: SessionScope,
  { email, password, role, locale = "en" }: CreateUser,
): Promise<UserView> {
  const { platformId } = scope;
  const action = "user.created";
  try {
    if (!deps.config.identity.allowDirectUsers)
      throw new AppError(
        "invitation_required",
        "Users choose their own password here. Invite them with POST /v1/invitations.",
      );
    await deps.limits.admitPasswords({ kind: "platform", id: platformId });
    const platform = await deps.tenants.findPlatform(platformId);
    if (platform === undefined) throw notFound();
    const now = deps.clock.now();
    const id = newId("user", now);
    const passwordHash = await hashAndClaim(
      deps,
      knownUser(platformId, scope.caller.userId),
      { path: "password", password, email, platformName: platform.name },
      { platformId, userId: id },
    );
    const user = newUser({
      id,
      platformId,
      email,
      role,
      emailVerified: !isMailOn(deps.config),
      locale,
      passwordHash,
      createdAt: now.toISOString(),
    });
    await store(deps, user);
    deps.audit.record(scope, { action, target: { type: "user", id } });
    return viewUser(user);
  } catch (error) {
    if (error instanceof AppError && REFUSALS.has(error.code))
      deps.audit.record(scope, { action, outcome: "denied" });
    throw error;
  }
}

/** Reports whether an account was never verified, and is removed now together with its platform, which is empty. */
async function isRemovedSignUp(
  { clock, config, stores, tenants }: PeopleDeps,
  user: User,
): Promise<boolean> {
  const ageMs = clock.now().getTime() - Date.parse(user.createdAt);
  if (user.emailVerified || !isMailOn(config) || ageMs < UNVERIFIED_MS) return false;
  return await stores.users.removeUnverified(user, tenants.unlist, { unlessOthers: true });
}

/**
 * Removes a page of claims that are a day old and have no user, which a crash leaves behind, and of accounts that were
 * never verified, which anybody can make.
 */
export async function removeStrayClaims(
  deps: PeopleDeps,
  after: string | undefined,
): Promise<RemovedPage> {
  const { users, emails } = deps.stores;
  const time = new Date(deps.clock.now().getTime() - POINTERS_YOUNG_MS);
  const { claims, next } = await emails.claimedBefore(time, after);
  let removed = 0;
  await inBatches(claims, CLAIMS_AT_ONCE, async ({ platformId, userId, release }) => {
    const user = await undefinedIfDamaged(users.find(platformId, userId));
    const isGone =
      user === undefined
        ? !(await users.isStored(platformId, userId))
        : await isRemovedSignUp(deps, user);
    if (isGone && (await release())) removed += 1;
  });
  return { removed, next };
}

/** Lists the staff of the caller's platform, newest first. @throws AppError `invalid_cursor` */
export function listUsers(
  deps: PeopleDeps,
  { platformId }: SessionScope,
  query: ListUsers,
): Promise<Page<UserView>> {
  return pageOfUsers(deps, platformId, query);
}

/** Returns a page of a platform's staff, newest first. @throws AppError `invalid_cursor` */
export async function pageOfUsers(
  deps: Pick<PeopleDeps, "cursors" | "stores">,
  platformId: string,
  { limit, cursor }: ListUsers,
): Promise<Page<UserView>> {
  const bound = { list: "users", platformId };
  const after = deps.cursors.read(cursor, bound);
  const listed = await deps.stores.users.list(platformId, after, limit);
  const makeCursor = (next: string) => deps.cursors.make(next, bound);
  return toPage(listed, limit, makeCursor, viewUser);
}

const lastOwner = (message: string) => new AppError("invalid_state", message);

/**
 * Changes a user. An owner may change anybody's role, and all users their own language. A new role holds on every
 * instance once this is answered.
 * @throws AppError `owner_required`, `confirmation_required`, `not_found`, `validation_failed`, `rate_limited`;
 * `invalid_state` when no owner would be left
 */
export async function updateUser(
  deps: PeopleDeps,
  scope: SessionScope,
  { userId, ...change }: UpdateUser & { readonly userId: string },
): Promise<UserView> {
  const isOwn = userId === scope.caller.userId;
  const isRole = change.role !== undefined;
  if (isRole || !isOwn) requireOwner(deps.audit, scope);
  if (isRole) requireConfirmed(deps, scope);
  const { mail, stores } = deps;
  const { users } = stores;
  const { platformId } = scope;
  const user = isId("user", userId) ? await users.find(platformId, userId) : undefined;
  if (user === undefined) throw notFound();
  // The issues of a change to another user.
  refuseIssues(
    isOwn || change.locale === undefined
      ? []
      : [
          {
            path: "locale",
            code: "custom",
            message: "must be left out: each user changes their own",
          },
        ],
  );
  // Taking a role away is never refused. It can't be repeated without giving it again.
  if (change.role === "owner" && user.role !== "owner") await admitOwnersNotice(deps, platformId);
  const write = (rows: readonly Row[]) => users.change(user, change, rows);
  const outcome =
    change.role === undefined || change.role === user.role
      ? await write([])
      : await writeWithOwnersNotice(mail, platformId, roleNotice(user, change.role), write);
  if (outcome === "absent") throw notFound();
  const target = { type: "user", id: userId };
  const action = isRole ? "user.role_changed" : "user.locale_changed";
  if (outcome === "last") {
    deps.audit.record(scope, { action, target, outcome: "denied" });
    throw lastOwner("A platform has at least one owner. Make somebody else one first.");
  }
  deps.audit.record(scope, { action, target });
  return viewUser(outcome);
}

/**
 * Removes a colleague or the caller. Their sessions and grants end immediately, and the email is free.
 * @throws AppError `owner_required`, `not_found`; `invalid_state` when no owner would be left
 */
export async function deleteUser(
  deps: PeopleDeps,
  scope: SessionScope,
  userId: string,
): Promise<void> {
  const { platformId } = scope;
  if (userId !== scope.caller.userId) requireOwner(deps.audit, scope);
  const user = await deps.stores.users.find(platformId, userId);
  if (user === undefined) throw notFound();
  const remove = (rows: readonly Row[]) =>
    deps.stores.users.deleteUnlessLast(platformId, userId, rows);
  const outcome =
    user.role === "owner"
      ? await writeWithOwnersNotice(deps.mail, platformId, removalNotice(user), remove)
      : await remove([]);
  const record = (outcome: "ok" | "denied") =>
    deps.audit.record(scope, {
      action: "user.deleted",
      target: { type: "user", id: userId },
      outcome,
    });
  switch (outcome) {
    case "absent":
      throw notFound();
    case "last":
      record("denied");
      throw lastOwner("The last owner of a platform can't be removed.");
    case "deleted":
      record("ok");
      // If this fails, the email can still be taken over, because its user doesn't exist.
      await deps.stores.emails.release(user.email, userId);
  }
}
