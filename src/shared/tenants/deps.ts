import type { Audit } from "../audit/audit.ts";
import type { Wallet } from "../ledger/ledger.ts";
import type { Config } from "../config/config.ts";
import type { connectionsOf } from "../connections/connections.ts";
import type { Limits } from "../limits/limits.ts";
import type { Mail } from "../mail/mail.ts";
import type { Verb } from "../runtime/bound.ts";
import type { Log } from "../runtime/log.ts";
import type { Cursors } from "../runtime/page.ts";
import type { Clock } from "../runtime/process.ts";
import type { RotatingKeys } from "../runtime/rotating-keys.ts";
import type { Grants } from "./profiles/grant.ts";
import type { TenantStores } from "./stores.ts";

export interface TenantsDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: Audit;
  readonly cursors: Cursors;
  readonly limits: Limits;
  readonly stores: TenantStores;
  readonly secrets: TenantSecrets;
  readonly mail: Mail;
  readonly readWallet: (platformId: string) => Promise<Wallet>;
  readonly connectionsOf: Verb<typeof connectionsOf>;
}

/** Secrets of keys and of the grants for profiles. */
interface TenantSecrets {
  readonly keyPeppers: RotatingKeys;
  readonly grants: Grants;
}
