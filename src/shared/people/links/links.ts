import { AppError } from "../../runtime/errors.ts";
import { deriveKey, hmacSha256, randomToken } from "../../runtime/secrets.ts";
import type { PeopleDeps } from "../deps.ts";
import type { Platform } from "../../tenants/tenants.ts";
import type { Link } from "./link-store.ts";
import type { LinkKind, LinkPage } from "./schema.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const LIFE_MS: Readonly<Record<LinkKind, number>> = {
  verify: 7 * DAY_MS,
  reset: 60 * MINUTE_MS,
  operator_reset: 60 * MINUTE_MS,
  email: 7 * DAY_MS,
  invitation: 7 * DAY_MS,
};

export type StoredUser = NonNullable<Awaited<ReturnType<PeopleDeps["stores"]["users"]["find"]>>>;

/** 32 bytes in base64url. */
const TOKEN = /^[\w-]{43}$/;

/** Returns the same answer for every link that doesn't work, whatever the reason. */
export const invalidLink = () =>
  new AppError("invalid_link", "This link doesn't work: it was used, has expired or was replaced.");

export const mailDisabled = () =>
  new AppError("mail_disabled", "This relay sends no mail. Ask its operators for a link.");

const hashWith = (pepper: string, kind: LinkKind, text: string) =>
  hmacSha256(deriveKey(pepper, "one-time links"), `${kind}|${text}`).toString("hex");

export type LinkOwner = Pick<StoredUser, "id" | "platformId" | "email" | "passwordVersion">;

/** What a link is for. The link ends when the state is no longer the one it was made with. */
interface LinkTarget {
  readonly id: string;
  readonly platformId: string;
  readonly state: string;
}

const ownerState = ({ passwordVersion, email }: LinkOwner) => `${passwordVersion}|${email}`;

const PAGE: Readonly<Record<LinkKind, LinkPage>> = {
  verify: "verify",
  reset: "reset",
  operator_reset: "reset",
  email: "email",
  invitation: "invitation",
};

/** What making and following a link needs of the process. */
export type LinkDeps = Pick<PeopleDeps, "config" | "clock" | "stores" | "tenants">;

/** What a link does in addition to its kind. */
type LinkEffect = Partial<Pick<Link, "newEmail" | "removesTotp">>;

/** Makes a link for a user. Returns when it ends and its address, which only the mail contains. */
export function makeLink(
  deps: LinkDeps,
  kind: LinkKind,
  user: LinkOwner,
  effect?: LinkEffect,
): Promise<MadeLink> {
  const { id, platformId } = user;
  return addLink(deps, kind, { id, platformId, state: ownerState(user) }, effect);
}

interface MadeLink {
  readonly url: string;
  readonly expiresAt: Date;
}

/** Makes a link for a user or something else. */
export async function addLink(
  { config, clock, stores }: LinkDeps,
  kind: LinkKind,
  { id, platformId, state }: LinkTarget,
  { newEmail = "", removesTotp = false }: LinkEffect = {},
): Promise<MadeLink> {
  const { keyPepper } = config.identity;
  const now = clock.now();
  const expiresAt = new Date(now.getTime() + LIFE_MS[kind]);
  const token = randomToken();
  await stores.links.add(hashWith(keyPepper, kind, token), {
    kind,
    platformId,
    userId: id,
    binding: hashWith(keyPepper, kind, state),
    newEmail,
    removesTotp,
    createdAt: now.toISOString(),
    expiresAt: expiresAt.toISOString(),
  });
  return { url: `${config.publicBaseUrl}/v1/auth/ui/${PAGE[kind]}?token=${token}`, expiresAt };
}

interface FoundLink {
  readonly link: Link;
  /** Reports whether the link was made with the state. */
  readonly isOf: (state: string) => boolean;
}

/** Finds the link of a token if it has one of the kinds and has not expired. @throws AppError `invalid_link` */
export async function findLink(
  { config, clock, stores }: LinkDeps,
  kinds: readonly LinkKind[],
  token: string,
): Promise<FoundLink> {
  const { keyPepper, previousKeyPepper } = config.identity;
  const peppers = [keyPepper, previousKeyPepper].filter((one) => one !== undefined);
  if (TOKEN.test(token))
    for (const kind of kinds)
      for (const pepper of peppers) {
        const link = await stores.links.find(hashWith(pepper, kind, token));
        if (link === undefined) continue;
        if (link.expiresAt <= clock.now().toISOString()) throw invalidLink();
        return { link, isOf: (state) => link.binding === hashWith(pepper, kind, state) };
      }
  throw invalidLink();
}

/** Reports whether the platform's status has changed since the link was made. A suspension ends links for good. */
export const isOlderThanStatus = (link: Link, { updatedAt }: Platform) =>
  updatedAt > link.createdAt;

/** Finds a link of one of the kinds and its user, without using it up. @throws AppError `invalid_link` */
export async function followLink(
  deps: LinkDeps,
  kinds: readonly LinkKind[],
  token: string,
): Promise<{ readonly link: Link; readonly user: StoredUser; readonly platform: Platform }> {
  const { stores, tenants } = deps;
  const { link, isOf } = await findLink(deps, kinds, token);
  const [user, platform] = await Promise.all([
    stores.users.find(link.platformId, link.userId),
    tenants.findPlatform(link.platformId),
  ]);
  if (user === undefined || platform?.status !== "active") throw invalidLink();
  if (isOlderThanStatus(link, platform) || !isOf(ownerState(user))) throw invalidLink();
  return { link, user, platform };
}
