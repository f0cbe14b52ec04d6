import type { Connection } from "../../connections/connections.ts";
import { withShortAltTexts } from "../../networks/contract/alt-text.ts";
import type { NetworkData } from "../../networks/contract/draft.ts";
import type { LegToPublish, Network } from "../../networks/contract/network.ts";
import { legDraft } from "../post.ts";
import type { LegRun } from "./leg-run.ts";

/** Returns what the network needs to publish the leg to this account, or to look it up there. */
export function toPublish(
  run: LegRun,
  network: Network,
  { connection, credentials }: { connection: Connection; credentials: NetworkData },
): LegToPublish {
  const { leg } = run.stored;
  const altTextMax = network.altTextMax?.(connection.limits) ?? Infinity;
  return {
    key: leg.key,
    draft: withShortAltTexts(legDraft(run.post.draft, leg.network), altTextMax),
    account: connection.account,
    credentials,
    instanceUrl: connection.instanceUrl,
    limits: connection.limits,
    remote: leg.remote ?? {},
    sentAt: leg.sentAt === null ? null : new Date(leg.sentAt),
    isUnpublished: leg.sentAt === null,
  };
}
