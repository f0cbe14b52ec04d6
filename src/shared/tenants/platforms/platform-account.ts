import type { Application, ApplicationStatus } from "../applications/application.ts";
import { notFound } from "../../runtime/errors.ts";
import { isId } from "../../runtime/ids.ts";
import type { TenantsDeps } from "../deps.ts";
import type { Platform, PlatformStatus } from "./platform.ts";

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
}

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
  return { id, name, status, tokenBalance: balance, tokenReserved: reserved, createdAt, updatedAt };
}

export async function summarizePlatform(
  services: TenantsDeps,
  platform: Platform,
): Promise<PlatformSummary> {
  return toSummary(platform, await services.wallets.read(platform.id));
}

/** The platform with its wallet and counts; profiles and keys are counted in one application when one is given. */
export async function readAccount(
  services: TenantsDeps,
  platformId: string,
  applicationId: string | null,
): Promise<PlatformAccount> {
  if (!isId("platform", platformId)) throw notFound();
  const now = services.clock.now();
  const [platform, wallet, all, profiles, activeApiKeys, connections, webhooks] = await Promise.all(
    [
      services.platforms.find(platformId),
      services.wallets.read(platformId),
      services.applications.listAll(platformId),
      services.profiles.count(platformId, applicationId),
      services.keys.countActive(platformId, applicationId, now),
      services.connections.count(platformId),
      services.endpoints.count(platformId, applicationId),
    ],
  );
  if (platform === undefined) throw notFound();
  const applications = all.map(summarizeApplication);
  const counts = { profiles, activeApiKeys, webhooks, connections };
  return {
    ...toSummary(platform, wallet),
    applications,
    counts: { ...counts, applications: applications.length },
  };
}
