import type { RequestScope, SessionScope } from "../../callers/scope.ts";
import { readOffToken, type NoticeSettings } from "../../mail/mail.ts";
import type { PeopleDeps } from "../deps.ts";
import { invalidLink, type StoredUser } from "../links/links.ts";
import { recordUser } from "../links/record-user.ts";
import type { UpdateNotices } from "./schema.ts";

const CHANGED = "platform.notices_changed";

export function getNotices(
  { mail }: PeopleDeps,
  { platformId }: SessionScope,
): Promise<NoticeSettings> {
  return mail.readNotices(platformId);
}

/** Switches notices on or off. Those that are not named stay unchanged. */
export async function updateNotices(
  { mail, audit }: PeopleDeps,
  scope: SessionScope,
  change: UpdateNotices,
): Promise<NoticeSettings> {
  const { platformId } = scope;
  const settings = await mail.switchNotices(platformId, change);
  audit.record(scope, { action: CHANGED, target: { type: "platform", id: platformId } });
  return settings;
}

/** The notice of a link, and the owner who got it. */
interface OffLink {
  readonly user: StoredUser;
  readonly notice: keyof NoticeSettings;
}

/** Finds what the link in a notice switches off. Changes nothing. @throws AppError `invalid_link` */
export async function followOffLink(
  { clock, config, stores, tenants }: Pick<PeopleDeps, "clock" | "config" | "stores" | "tenants">,
  token: string,
): Promise<OffLink> {
  const read = readOffToken(config.identity, token, clock.now());
  if (read === undefined) throw invalidLink();
  const { platformId, userId, notice } = read;
  const [user, platform] = await Promise.all([
    stores.users.find(platformId, userId),
    tenants.findPlatform(platformId),
  ]);
  // The mail was sent to an owner. A user who is no owner any more can't use it.
  const isOwner = user?.role === "owner" && user.emailVerified;
  if (user === undefined || !isOwner || platform?.status !== "active") throw invalidLink();
  return { user, notice };
}

/** Switches a notice off with the link in it. May be repeated. @throws AppError `invalid_link` */
export async function switchOffByLink(
  deps: PeopleDeps,
  scope: RequestScope,
  token: string,
): Promise<OffLink> {
  const link = await followOffLink(deps, token);
  await deps.mail.switchNotices(link.user.platformId, { [link.notice]: false });
  recordUser(deps, scope, link.user, CHANGED);
  return link;
}
