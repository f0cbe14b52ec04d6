import type { RequestScope } from "../../callers/scope.ts";
import { knownUser } from "../../limits/limits.ts";
import { isMailOn } from "../../mail/mail.ts";
import { newId } from "../../runtime/ids.ts";
import type { PeopleDeps } from "../deps.ts";
import { deviceTokenOf, type DeviceProof } from "./device-cookie.ts";
import { startWithCredit } from "./starting-credit.ts";
import { hashNewPassword } from "./weak-passwords.ts";
import { updateWithNotice } from "./update-with-notice.ts";
import { isDeviceOf, isEmailOf, issueDevice, withPassword } from "./user.ts";
import { recordUser } from "../links/record-user.ts";
import { followLink, invalidLink, mailDisabled, makeLink } from "../links/links.ts";
import { usedLink, type OneTimeLinkForm } from "../links/used-link.ts";
import type { AskForReset, ConfirmReset } from "../links/schema.ts";

/** Finds the user of an email. Asks storage for the same where there is none. */
async function findReader(deps: Pick<PeopleDeps, "clock" | "stores" | "tenants">, email: string) {
  const { stores, tenants, clock } = deps;
  const now = clock.now();
  const nobody = { platformId: newId("platform", now), userId: newId("user", now) };
  const { platformId, userId } = (await stores.emails.find(email)) ?? nobody;
  const [user, platform] = await Promise.all([
    stores.users.find(platformId, userId),
    tenants.findPlatform(platformId),
  ]);
  const isReader = user !== undefined && isEmailOf(user, email) && platform?.status === "active";
  return { user: isReader ? user : undefined, ids: { platformId, id: userId } };
}

/** The partition of mails that are not sent to anybody. */
const NOBODY = "nobody";

/**
 * Mails a link that sets a new password. The answer and the work are the same for a known and an unknown email.
 * @throws AppError `mail_disabled`
 */
export async function askForReset(
  deps: PeopleDeps,
  _scope: RequestScope,
  { email, ...proof }: AskForReset & DeviceProof,
): Promise<void> {
  const { mail, secrets } = deps;
  if (!isMailOn(deps.config)) throw mailDisabled();
  const deviceToken = deviceTokenOf(deps.config, email, proof);
  const device = deviceToken === undefined ? undefined : await secrets.devices.read(deviceToken);
  const { user, ids } = await findReader(deps, email);
  // Strangers who ask all day use up their own mails, but not those of a device that the user has logged in from.
  const isOwn = device !== undefined && isDeviceOf(device, user);
  if (!(await mail.admitMail(email, isOwn ? "reset of a known device" : "reset"))) return;
  const owner = user ?? { ...ids, email, passwordVersion: 0 };
  const { url: link, expiresAt: until } = await makeLink(deps, "reset", owner);
  const [platformId, to] = user === undefined ? [NOBODY, ""] : [user.platformId, user.email];
  const locale = user?.locale ?? "en";
  await mail.postMail(platformId, { kind: "reset", to, locale, link, until });
}

/**
 * Sets a new password with a link, ends every session and link of the user, and verifies the email. The link proves the
 * mailbox, so failed logins and wrong codes no longer count. Of two uses at the same time, one succeeds.
 * @throws AppError `invalid_link`, `validation_failed`, `service_unavailable`
 */
export async function confirmReset(
  deps: PeopleDeps,
  scope: RequestScope,
  { token, newPassword, form }: ConfirmReset & { readonly form?: OneTimeLinkForm },
): Promise<{ readonly deviceToken: string; readonly email: string }> {
  const { user, link, platform } = await followLink(deps, ["reset", "operator_reset"], token);
  // Who has the link has the mailbox, so strangers' logins don't keep the owner out.
  const passwordHash = await hashNewPassword(deps, knownUser(user.platformId, user.id), {
    path: "newPassword",
    password: newPassword,
    email: user.email,
    platformName: platform.name,
  });
  // Before the link is used up, which proves the mailbox either way: after a crash, the next use makes the credit.
  if (!user.emailVerified) await startWithCredit(deps, user, scope.requestId);
  // Before the link is used up, so that the next use does it after a crash.
  await deps.limits.forgetFailures(user.email);
  const isFactorRemoved = link.removesTotp && user.secondFactor?.confirmed === true;
  const kinds = [
    "passwordChanged",
    ...(isFactorRemoved ? ["secondFactorOff" as const] : []),
  ] as const;
  const changed = await updateWithNotice(deps, user, { kinds, ip: scope.ip }, (present) =>
    present.passwordVersion === user.passwordVersion && present.email === user.email
      ? {
          ...withPassword(present, passwordHash, null),
          emailVerified: true,
          resets: present.resets + 1,
          ...usedLink(deps, form),
          ...(link.removesTotp ? { secondFactor: null } : {}),
        }
      : undefined,
  );
  if (changed === undefined) throw invalidLink();
  recordUser(deps, scope, user, "user.password_reset");
  return { deviceToken: await issueDevice(deps.secrets.devices, changed), email: user.email };
}
