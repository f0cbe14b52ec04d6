import type { TenantsDeps } from "../deps.ts";
import { sealingKey } from "../../runtime/secrets.ts";
import { resealSecret } from "./check-code.ts";

const PAGE = 500;

/** Seals the TOTP secrets of a platform's users with the first data key. Answers the key of each secret after that. */
export async function resealSecondFactors(
  services: TenantsDeps,
  platformId: string,
): Promise<string[]> {
  const keys: string[] = [];
  let after: string | undefined;
  do {
    const { items, next } = await services.users.list(platformId, after, PAGE);
    for (const user of items) {
      const { secondFactor } = user;
      if (secondFactor === null) continue;
      const isOld = resealSecret(services, user, secondFactor.sealedSecret) !== undefined;
      const resealed = isOld ? await resealOne(services, user) : undefined;
      keys.push(sealingKey(resealed ?? secondFactor.sealedSecret));
    }
    after = next;
  } while (after !== undefined);
  return keys;
}

async function resealOne(
  services: TenantsDeps,
  owner: { readonly id: string; readonly platformId: string },
): Promise<string | undefined> {
  const changed = await services.users.update(owner, ({ secondFactor }) => {
    if (secondFactor === null) return undefined;
    const sealedSecret = resealSecret(services, owner, secondFactor.sealedSecret);
    return sealedSecret === undefined
      ? undefined
      : { secondFactor: { ...secondFactor, sealedSecret } };
  });
  return changed?.secondFactor?.sealedSecret;
}
