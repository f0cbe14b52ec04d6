import { notFound } from "../../runtime/errors.ts";
import { isId } from "../../runtime/ids.ts";
import type { Application, ApplicationStatus } from "../applications/application.ts";
import { summed } from "../../partition/partition.ts";
import { countLive } from "../keys/live-keys.ts";
import type { TenantsDeps } from "../deps.ts";
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
  readWallet: TenantsDeps["readWallet"],
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
  deps: Pick<TenantsDeps, "clock" | "stores" | "readWallet">,
  platformId: string,
  applicationId: string | null,
): Promise<PlatformAccount> {
  if (!isId("platform", platformId)) throw notFound();
  const now = deps.clock.now();
  const [platform, wallet, all, counted] = await Promise.all([
    deps.stores.platforms.find(platformId),
    deps.readWallet(platformId),
    deps.stores.applications.listAll(platformId),
    deps.stores.platforms.counts(platformId),
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
