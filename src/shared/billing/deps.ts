import type { AuditDeps } from "../audit/deps.ts";
import type { WalletStore } from "./wallet-store.ts";

/** What charging and reading a wallet need of the process. */
export interface BillingDeps extends AuditDeps {
  readonly platforms: { find(platformId: string): Promise<object | undefined> };
  readonly wallets: WalletStore;
}
