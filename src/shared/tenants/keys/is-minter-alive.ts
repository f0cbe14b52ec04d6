import type { Grant } from "../profiles/grant.ts";
import type { TenantsDeps } from "../deps.ts";
import { keyStatus } from "./key.ts";

/** Whether the key or user that minted a grant could still mint one: a revoked key takes its grants along. */
export async function isMinterAlive(services: TenantsDeps, grant: Grant): Promise<boolean> {
  if (grant.mintedBy.startsWith("usr_"))
    return (await services.users.find(grant.platformId, grant.mintedBy)) !== undefined;
  const minter = await services.keys.findWithHash(grant.mintedBy);
  return minter !== undefined && keyStatus(minter.key, services.clock.now()) === "active";
}
