import type { Config } from "../config/config.ts";
import type { Commit } from "../core/core.ts";
import type { Tables } from "../runtime/storage/tables.ts";
import { AccountCheckStore } from "./account-check-store.ts";
import { AuthorisationStore } from "./authorisation-store.ts";
import { ConnectSessionStore } from "./connect-session-store.ts";
import type { Viewer } from "./connection-event.ts";
import { ConnectionStore } from "./connection-store.ts";
import type { ConnectionsDeps } from "./deps.ts";
import { HostStore } from "./host-store.ts";
import { OAuthStateStore } from "./oauth-state-store.ts";
import { WithdrawalStore } from "./withdrawal-store.ts";

interface Parts extends Pick<ConnectionsDeps, "clock" | "networkAccounts"> {
  readonly config: Config;
  readonly tables: Tables;
  readonly commit: Commit;
}

/** Creates the stores of linked accounts and of what links them. */
export function createConnectionStores({ config, tables, clock, commit, networkAccounts }: Parts) {
  const { core, oauthstates, instances } = tables;
  const { dataKeys } = config.identity;
  const authorisations = new AuthorisationStore(tables.authorisations);
  // Loaded when an account is linked: it brings along every network.
  const viewer = async (account: Parameters<Viewer>[0]) => {
    const { viewerOf } = await import("./view-connection.ts");
    return await viewerOf({ config, clock, networkAccounts }, account);
  };
  const parts = { core, authorisations, dataKeys, clock, commit, viewer };
  return {
    authorisations,
    connections: new ConnectionStore(parts),
    accountChecks: new AccountCheckStore(parts),
    connectSessions: new ConnectSessionStore(core, commit),
    oauthStates: new OAuthStateStore(oauthstates, dataKeys),
    withdrawals: new WithdrawalStore(oauthstates),
    hosts: new HostStore(instances, dataKeys),
  };
}
