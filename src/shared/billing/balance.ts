import type { PlatformScope } from "../callers/scope.ts";
import type { BillingDeps } from "./deps.ts";
import { viewBalance, type Balance } from "./balance-view.ts";

/** The wallet as its owner sees it. */
export async function getBalance(services: BillingDeps, scope: PlatformScope): Promise<Balance> {
  return viewBalance(await services.wallets.read(scope.platformId), services.clock.now());
}
