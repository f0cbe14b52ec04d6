import type { NetworkName } from "../networks/lookup.ts";
import type { CheckedTokens } from "../runtime/checked-tokens.ts";
import type { SingleFlight } from "../runtime/promises.ts";
import type { WebhooksDeps } from "../webhooks/webhooks.ts";
import type { AppFaults } from "./app-faults.ts";
import type { ConnectSessionStore } from "./connect-session-store.ts";
import type { AuthorisationStore } from "./authorisation-store.ts";
import type { LinkGuard } from "./connection-change.ts";
import type { ConnectionStore } from "./connection-store.ts";
import type { AccountCheckStore } from "./account-check-store.ts";
import type { WithdrawalStore } from "./withdrawal-store.ts";
import type { HostStore } from "./host-store.ts";
import type { OAuthStateStore } from "./oauth-state-store.ts";
import type { FreshCredentials } from "./connection.ts";

/** What linking accounts reads of a tenant's row. */
interface Found {
  readonly status: string;
}

export interface ConnectionsDeps extends WebhooksDeps {
  readonly platforms: { find(platformId: string): Promise<Found | undefined> };
  readonly applications: WebhooksDeps["applications"] & {
    find(platformId: string, applicationId: string): Promise<Found | undefined>;
  };
  readonly profiles: { find(platformId: string, profileId: string): Promise<Found | undefined> };
  /** Returns whether a key or a user of the platform may still act: neither revoked, expired, deleted nor removed. */
  isActorActive(platformId: string, id: string): Promise<boolean>;
  /** Returns what has to be active in the transaction that links an account, these keys and users among it. */
  linkGuard(
    session: {
      readonly platformId: string;
      readonly applicationId: string;
      readonly profileId: string;
    },
    actorIds: readonly string[],
  ): LinkGuard;
  readonly connections: ConnectionStore;
  readonly authorisations: AuthorisationStore;
  readonly accountChecks: AccountCheckStore;
  readonly connectSessions: ConnectSessionStore;
  /** Makes what browsers bring: the tokens of connect sessions, and the ids in cookies. */
  readonly linkTokens: CheckedTokens;
  readonly oauthStates: OAuthStateStore;
  readonly hosts: HostStore;
  /** Notices that people took authorisations back at their network. */
  readonly withdrawals: WithdrawalStore;
  /** Tells the refusals of accounts from those of our apps. */
  readonly appFaults: AppFaults;
  readonly credentialFlights: SingleFlight<FreshCredentials>;
  /** How much of its quotas a real account has used, no matter who linked it. */
  readonly networkAccounts: {
    readQuota(
      account: { readonly network: NetworkName; readonly accountId: string },
      kind: string,
      now: Date,
    ): Promise<{ readonly used: number; readonly resetsAt: string | null }>;
  };
}
