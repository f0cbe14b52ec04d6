import { type Connection, quotaOfKind, type Quota } from "../../connections/connections.ts";
import type { NetworkData } from "../../networks/contract/draft.ts";
import { networkOf, type NetworkName } from "../../networks/networks.ts";
import type { PublishingDeps } from "../deps.ts";
import { legDraft, type Draft } from "../post.ts";
import type { NetworkAccount } from "./account-store.ts";

export function accountOf({ network, account }: Connection): NetworkAccount {
  return { network, accountId: account.id };
}

/**
 * Returns the quota that a draft uses on a network, if any. `remote` is the prepared draft, as far as it was prepared.
 */
export function quotaFor(
  { config }: Pick<PublishingDeps, "config">,
  draft: Draft,
  network: NetworkName,
  { limits = {}, remote }: { readonly limits?: NetworkData; readonly remote?: NetworkData } = {},
): Quota | undefined {
  const kind = networkOf(network).quotaOf?.(legDraft(draft, network), remote);
  return kind === undefined ? undefined : quotaOfKind(config, kind, { network, limits });
}
