import { AppError } from "../../runtime/errors.ts";
import { deriveKey, hmacSha256, randomToken } from "../../runtime/secrets.ts";
import type { TenantsDeps } from "../deps.ts";
import type { Link } from "./link-store.ts";
import type { LinkKind, LinkPage } from "./schema.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const LIFE_MS: Readonly<Record<LinkKind, number>> = {
  verify: 7 * DAY_MS,
  reset: 60 * MINUTE_MS,
  operator_reset: 60 * MINUTE_MS,
  email: 7 * DAY_MS,
};

/** A user as stored. */
export type StoredUser = NonNullable<Awaited<ReturnType<TenantsDeps["stores"]["users"]["find"]>>>;

/** 32 bytes in base64url. */
const TOKEN = /^[\w-]{43}$/;

/** Returns the one answer for a link that doesn't work, whatever the reason. */
export const invalidLink = () =>
  new AppError("invalid_link", "This link doesn't work: it was used, has expired or was replaced.");

export const mailDisabled = () =>
  new AppError("mail_disabled", "This relay sends no mail. Ask its operators for a link.");

const hashWith = (pepper: string, kind: LinkKind, text: string) =>
  hmacSha256(deriveKey(pepper, "one-time links"), `${kind}|${text}`).toString("hex");

/** Returns what ends a user's links when it changes. */
function bindingOf({ config }: TenantsDeps, kind: LinkKind, user: LinkOwner): string {
  return hashWith(config.identity.keyPepper, kind, `${user.passwordVersion}|${user.email}`);
}

/** Whom a link is for. */
export type LinkOwner = Pick<StoredUser, "id" | "platformId" | "email" | "passwordVersion">;

const PAGE: Readonly<Record<LinkKind, LinkPage>> = {
  verify: "verify",
  reset: "reset",
  operator_reset: "reset",
  email: "email",
};

/** What a link does beyond its kind. */
type LinkEffect = Partial<Pick<Link, "newEmail" | "removesTotp">>;

/** Makes a link. Returns its address, which is in the mail alone, and when it ends. */
export async function makeLink(
  services: TenantsDeps,
  kind: LinkKind,
  user: LinkOwner,
  { newEmail = "", removesTotp = false }: LinkEffect = {},
): Promise<{ readonly url: string; readonly expiresAt: Date }> {
  const { config, clock, stores } = services;
  const now = clock.now();
  const expiresAt = new Date(now.getTime() + LIFE_MS[kind]);
  const token = randomToken();
  await stores.links.add(hashWith(config.identity.keyPepper, kind, token), {
    kind,
    platformId: user.platformId,
    userId: user.id,
    binding: bindingOf(services, kind, user),
    newEmail,
    removesTotp,
    createdAt: now.toISOString(),
    expiresAt: expiresAt.toISOString(),
  });
  return { url: `${config.publicBaseUrl}/v1/auth/ui/${PAGE[kind]}?token=${token}`, expiresAt };
}

/** Finds the link of a token, of one of the kinds. */
async function findLink(
  { config, stores }: TenantsDeps,
  kinds: readonly LinkKind[],
  token: string,
): Promise<Link | undefined> {
  const { keyPepper, previousKeyPepper } = config.identity;
  const peppers = [keyPepper, previousKeyPepper].filter((one) => one !== undefined);
  for (const kind of kinds)
    for (const pepper of peppers) {
      const found = await stores.links.find(hashWith(pepper, kind, token));
      if (found !== undefined) return found;
    }
  return undefined;
}

/** Finds a link of one of the kinds, and the user that it is for. Uses nothing up. @throws AppError `invalid_link` */
export async function followLink(
  services: TenantsDeps,
  kinds: readonly LinkKind[],
  token: string,
): Promise<{ readonly link: Link; readonly user: StoredUser }> {
  const { clock, stores } = services;
  const link = TOKEN.test(token) ? await findLink(services, kinds, token) : undefined;
  if (link === undefined || link.expiresAt <= clock.now().toISOString()) throw invalidLink();
  const [user, platform] = await Promise.all([
    stores.users.find(link.platformId, link.userId),
    stores.platforms.find(link.platformId),
  ]);
  if (user === undefined || platform?.status !== "active") throw invalidLink();
  // A platform that was suspended since has ended its links, also when it is active again.
  if (platform.updatedAt > link.createdAt) throw invalidLink();
  if (link.binding !== bindingOf(services, link.kind, user)) throw invalidLink();
  return { link, user };
}
