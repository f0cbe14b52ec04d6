import type { Audit } from "../audit/audit.ts";
import type { Config } from "../config/config.ts";
import type { WaitingRequests } from "../limits/limits.ts";
import type { NetworkName } from "../networks/networks.ts";
import type { CheckedTokens } from "../runtime/checked-tokens.ts";
import type { Log } from "../runtime/log.ts";
import type { NameResolver } from "../runtime/resolve-host.ts";
import type { Outbound } from "../runtime/outbound.ts";
import type { Cursors } from "../runtime/page.ts";
import type { Clock } from "../runtime/process.ts";
import type { SingleFlight } from "../runtime/promises.ts";
import type { AppFaults } from "./app-faults.ts";
import type { Maker } from "../callers/caller.ts";
import type { LinkGuard } from "./connection-change.ts";
import type { FreshCredentials } from "./connection.ts";
import type { ConnectionStores } from "./stores.ts";

/** Fields of a tenant's row that linking accounts reads. */
interface TenantStatus {
  readonly status: string;
}

export interface ConnectionsDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: Audit;
  readonly cursors: Cursors;
  readonly outbound: Outbound;
  readonly names: NameResolver;
  /** Limits requests that wait for servers that customers chose. */
  readonly waits: WaitingRequests;
  readonly stores: ConnectionStores;
  readonly linking: LinkingParts;
  readonly tenants: TenantsOfLinking;
  /** Reads how much of its quotas a real account has used, no matter who linked it. */
  readQuotaUse(
    account: { readonly network: NetworkName; readonly accountId: string },
    kind: string,
    now: Date,
  ): Promise<{ readonly used: number; readonly resetsAt: string | null }>;
}

interface LinkingParts {
  /** Makes the tokens that browsers present: those of connect sessions, and the ids in cookies. */
  readonly linkTokens: CheckedTokens;
  /** Tells refusals of accounts from refusals of our apps. */
  readonly appFaults: AppFaults;
  readonly credentialFlights: SingleFlight<FreshCredentials>;
}

export interface TenantsOfLinking {
  findPlatform(platformId: string): Promise<TenantStatus | undefined>;
  findApplication(platformId: string, applicationId: string): Promise<TenantStatus | undefined>;
  findProfile(
    platformId: string,
    profileId: string,
  ): Promise<(TenantStatus & { readonly title: string }) | undefined>;
  /** Returns whether a key of the platform is active, or a session of one of its users was not ended. */
  isMakerActive(platformId: string, maker: Maker): Promise<boolean>;
  /** Returns the rows that must be active in the transaction that links an account, including those of the makers. */
  linkGuard(
    session: {
      readonly platformId: string;
      readonly applicationId: string;
      readonly profileId: string;
    },
    makers: readonly Maker[],
  ): LinkGuard;
}
