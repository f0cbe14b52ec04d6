import { resealSecondFactors } from "../../tenants/staff/check-second-factor.ts";
import type { BackgroundDeps } from "../deps.ts";

/** Returns whether rows may be sealed with another key than the first: with one key alone there is nothing to do. */
export function isRotating({ config }: BackgroundDeps): boolean {
  return config.identity.dataKeys.size > 1;
}

/**
 * Seals what a platform keeps beside its connections with the first data key: signing secrets of webhooks, TOTP secrets
 * of users. Returns the key of each sealed text after that.
 */
export async function resealPlatform(
  services: BackgroundDeps,
  platformId: string,
): Promise<string[]> {
  const [endpoints, users] = await Promise.all([
    services.endpoints.reseal(platformId),
    resealSecondFactors(services, platformId),
  ]);
  return [...endpoints, ...users];
}
