import type { Audit } from "../audit/audit.ts";
import type { Log } from "../runtime/log.ts";
import type { Cursors } from "../runtime/page.ts";
import type { Clock } from "../runtime/process.ts";
import type { WalletStore } from "../core/core.ts";

/** What charging and reading a wallet need of the process. */
export interface BillingDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly cursors: Cursors;
  readonly audit: Audit;
  readonly platforms: {
    find(platformId: string): Promise<{ readonly status: string } | undefined>;
  };
  readonly wallets: WalletStore;
}
