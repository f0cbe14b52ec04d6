import type { Commit } from "../partition/partition.ts";
import type { Clock } from "../runtime/process.ts";
import type { DataKeys } from "../runtime/secrets.ts";
import type { Tables } from "../runtime/storage/tables.ts";
import { AccountCheckStore } from "./account-check-store.ts";
import { AuthorizationStore } from "./authorization-store.ts";
import { ConnectSessionStore } from "./connect-session-store.ts";
import type { Viewer } from "./connection-event.ts";
import { ConnectionStore } from "./connection-store.ts";
import { HostStore } from "./host-store.ts";
import { OAuthStateStore } from "./oauth-state-store.ts";
import { WithdrawalStore } from "./withdrawal-store.ts";

interface Parts {
  readonly dataKeys: DataKeys;
  readonly clock: Clock;
  readonly commit: Commit;
  readonly viewer: Viewer;
}

export type ConnectionStores = ReturnType<typeof createConnectionStores>;

export function createConnectionStores(
  { core, authorizations: table, oauthstates, instances }: Tables,
  { dataKeys, clock, commit, viewer }: Parts,
) {
  const authorizations = new AuthorizationStore(table);
  const parts = { core, authorizations, dataKeys, clock, commit, viewer };
  return {
    authorizations,
    connections: new ConnectionStore(parts),
    accountChecks: new AccountCheckStore(parts),
    connectSessions: new ConnectSessionStore(core, commit),
    oauthStates: new OAuthStateStore(oauthstates, dataKeys),
    /** Notices of people who withdrew authorizations at their network. */
    withdrawals: new WithdrawalStore(oauthstates),
    hosts: new HostStore(instances, dataKeys, clock),
  };
}
