import type { Audit } from "../audit/audit.ts";
import type { creditWallet, Wallet } from "../ledger/ledger.ts";
import type { DeviceTokens } from "../callers/device-tokens.ts";
import type { Sessions } from "../callers/tokens.ts";
import type { Config } from "../config/config.ts";
import type { connectionsOf } from "../connections/connections.ts";

import type { Limits } from "../limits/limits.ts";
import type { Mail } from "../mail/mail.ts";
import type { Verb } from "../runtime/bound.ts";
import type { Log } from "../runtime/log.ts";
import type { Cursors } from "../runtime/page.ts";
import type { Clock } from "../runtime/process.ts";
import type { SingleFlight } from "../runtime/promises.ts";
import type { RotatingKeys } from "../runtime/rotating-keys.ts";
import type { Readiness } from "./platforms/readiness.ts";
import type { Grants } from "./profiles/grant.ts";
import type { Passwords } from "../people/staff/password.ts";
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
  readonly ledger: {
    readonly readWallet: (platformId: string) => Promise<Wallet>;
    readonly creditWallet: Verb<typeof creditWallet>;
  };
  readonly connectionsOf: Verb<typeof connectionsOf>;
  readonly readiness: {
    /** The last check of whether the process can do its work. */
    readonly checks: SingleFlight<Readiness>;
    /** Finds out whether the queue of publishing answers. */
    readonly pingQueue: () => Promise<void>;
  };
}

/** Secrets and keys that identify callers. */
export interface TenantSecrets {
  readonly keyPeppers: RotatingKeys;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly devices: DeviceTokens;
  readonly grants: Grants;
}
