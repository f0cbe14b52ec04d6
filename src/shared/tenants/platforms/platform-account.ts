import type { UserRole } from "../../callers/caller.ts";
import type { PlatformScope } from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import { isId } from "../../runtime/ids.ts";
import type { Application, ApplicationStatus } from "../applications/application.ts";
import { summed } from "../../partition/partition.ts";
import { countLive } from "../keys/live-keys.ts";
import type { TenantsDeps } from "../deps.ts";
import { viewUser, type UserView } from "../../people/staff/user.ts";
import { erasedAt, type Platform, type PlatformStatus } from "../platform.ts";

/** What the account of a platform shows of an application. */
export interface ApplicationSummary {
  readonly id: string;
  readonly name: string;
  readonly status: ApplicationStatus;
}

export interface PlatformSummary {
  readonly id: string;
  readonly name: string;
  readonly status: PlatformStatus;
  readonly tokenBalance: number;
  readonly tokenReserved: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** When everything of the platform is erased. Present once it is closed. */
  readonly erasedAt?: string | undefined;
}

/** A platform with its wallet, its applications, and all counts. */
export interface PlatformAccount extends PlatformSummary {
  readonly applications: readonly ApplicationSummary[];
  readonly counts: {
    readonly profiles: number;
    readonly activeApiKeys: number;
    readonly webhooks: number;
    readonly connections: number;
    readonly applications: number;
  };
}

function summarizeApplication({ id, name, status }: Application): ApplicationSummary {
  return { id, name, status };
}

function toSummary(
  platform: Platform,
  wallet: { balance: number; reserved: number },
): PlatformSummary {
  const { id, name, status, createdAt, updatedAt } = platform;
  const { balance, reserved } = wallet;
  const tokens = { tokenBalance: balance, tokenReserved: reserved };
  const ends = status === "closed" ? { erasedAt: erasedAt(updatedAt).toISOString() } : {};
  return { id, name, status, ...tokens, createdAt, updatedAt, ...ends };
}

/** Returns the platform with its wallet. @throws DamagedRow when the wallet's row is damaged */
export async function summarizePlatform(
  readWallet: TenantsDeps["ledger"]["readWallet"],
  platform: Platform,
): Promise<PlatformSummary> {
  return toSummary(platform, await readWallet(platform.id));
}

/**
 * Returns the platform with its wallet and counts. If an application is given, profiles, keys and webhooks are counted
 * within it.
 * @throws AppError `not_found`
 */
export async function readAccount(
  services: Pick<TenantsDeps, "clock" | "stores" | "ledger">,
  platformId: string,
  applicationId: string | null,
): Promise<PlatformAccount> {
  if (!isId("platform", platformId)) throw notFound();
  const now = services.clock.now();
  const [platform, wallet, all, counted] = await Promise.all([
    services.stores.platforms.find(platformId),
    services.ledger.readWallet(platformId),
    services.stores.applications.listAll(platformId),
    services.stores.platforms.counts(platformId),
  ]);
  if (platform === undefined) throw notFound();
  const applications = all.map(summarizeApplication);
  const { connections } = summed([...counted.values()]);
  const isMeant = ([id]: readonly [string, unknown]) =>
    applicationId === null || id === applicationId;
  const own = summed([...counted].filter(isMeant).map(([, one]) => one));
  const { profiles, webhooks } = own;
  const counts = { profiles, activeApiKeys: countLive(own, now), webhooks, connections };
  return {
    ...toSummary(platform, wallet),
    applications,
    counts: { ...counts, applications: applications.length },
  };
}

/** The caller's platform, and the caller. */
export interface Me extends PlatformAccount {
  readonly application: ApplicationSummary | null;
  readonly auth: {
    readonly kind: "api_key" | "session";
    readonly apiKeyId: string | null;
    readonly userId: string | null;
    readonly applicationId: string | null;
    /** Present for sessions, like the next field. */
    readonly role?: UserRole | undefined;
    readonly confirmedUntil?: string | null | undefined;
  };
  readonly user?: UserView | undefined;
}

/** Returns the caller's platform, with the counts of the application that the key or the header names. */
export async function getMe(services: TenantsDeps, scope: PlatformScope): Promise<Me> {
  const { caller, platformId, applicationId } = scope;
  const [account, user] = await Promise.all([
    readAccount(services, platformId, applicationId),
    caller.kind === "session" ? services.stores.users.find(platformId, caller.userId) : undefined,
  ]);
  return {
    ...account,
    ...(user === undefined ? {} : { user: viewUser(user) }),
    application: account.applications.find(({ id }) => id === applicationId) ?? null,
    auth: {
      kind: caller.kind,
      apiKeyId: caller.kind === "api_key" ? caller.keyId : null,
      userId: caller.kind === "session" ? caller.userId : null,
      applicationId,
      ...(caller.kind === "session"
        ? { role: caller.role, confirmedUntil: caller.confirmedUntil }
        : {}),
    },
  };
}
