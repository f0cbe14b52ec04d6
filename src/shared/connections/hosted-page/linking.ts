import type { NetworkName } from "../../networks/lookup.ts";
import type { LinkedAccount } from "../../networks/contract/network.ts";
import type { Connection } from "../connection.ts";
import { untoldNow, type Untold } from "../untold.ts";

/** What linking writes. The id is chosen, and paid for, before. */
export interface Linking {
  readonly id: string;
  readonly platformId: string;
  readonly applicationId: string;
  readonly profileId: string;
  readonly network: NetworkName;
  readonly linked: LinkedAccount;
}

/** What becomes of the account that was linked before is told first. */
export function toldOfLinking(
  connection: Connection,
  before: Connection | undefined,
  now: Date,
  ids: { readonly removed: string; readonly linked: string },
): Untold[] {
  const linked = untoldNow("connection.linked", connection, now, ids.linked);
  const isReplaced =
    before !== undefined &&
    before.account.id !== connection.account.id &&
    before.status !== "revoked";
  if (!isReplaced) return [linked];
  const removed = { ...before, status: "revoked" } as const;
  return [untoldNow("connection.removed", removed, now, ids.removed), linked];
}

/** The same account keeps its id and its age. */
export function toConnection(
  linking: Linking,
  before: Connection | undefined,
  now: Date,
): Connection {
  const { id, platformId, applicationId, profileId, network, linked } = linking;
  const isSame = before?.id === id;
  return {
    id,
    platformId,
    applicationId,
    profileId,
    network,
    status: "active",
    account: linked.account,
    ...(linked.grantId === undefined ? {} : { grantId: linked.grantId }),
    instanceUrl: linked.instanceUrl,
    scopes: linked.scopes,
    limits: linked.limits,
    expiresAt: linked.expiresAt,
    lastUsedAt: isSame ? before.lastUsedAt : null,
    lastError: null,
    checkedAt: now.toISOString(),
    warnedExpiresAt: null,
    generation: (before?.generation ?? 0) + 1,
    createdAt: isSame ? before.createdAt : now.toISOString(),
    updatedAt: now.toISOString(),
  };
}
