import type { Audit } from "../audit/audit.ts";
import type { DeviceTokens } from "../callers/device-tokens.ts";
import type { Sessions } from "../callers/tokens.ts";
import type { Config } from "../config/config.ts";
import type { creditWallet } from "../ledger/ledger.ts";
import type { Limits } from "../limits/limits.ts";
import type { Mail } from "../mail/mail.ts";
import type { Verb } from "../runtime/bound.ts";
import type { Log } from "../runtime/log.ts";
import type { Cursors } from "../runtime/page.ts";
import type { Clock } from "../runtime/process.ts";
import type { TenantsOfPeople } from "../tenants/tenants.ts";
import type { Passwords } from "./staff/password.ts";
import type { PeopleStores } from "./stores.ts";

export interface PeopleDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: Audit;
  readonly cursors: Cursors;
  readonly limits: Limits;
  readonly mail: Mail;
  readonly stores: PeopleStores;
  readonly secrets: PeopleSecrets;
  readonly tenants: TenantsOfPeople;
  readonly creditWallet: Verb<typeof creditWallet>;
}

/** Secrets and keys of passwords, sessions and devices. */
export interface PeopleSecrets {
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly devices: DeviceTokens;
}
