import { withShortAltTexts } from "../../networks/contract/alt-text.ts";
import type { LegToPublish } from "../../networks/contract/network.ts";
import { legDraft } from "../post.ts";
import type { CallWork } from "./call-work.ts";
import { attachedOf } from "./leg-run.ts";

/** Returns what the network needs to publish the leg to its account, or to look it up there. */
export function toPublish({ run, network, unsent }: CallWork): LegToPublish {
  const { leg } = run.stored;
  const { connection, credentials } = attachedOf(run);
  // A call that is known to have had no effect was attempted all the same.
  const { sentAt } = run.written.leg;
  const altTextMax = network.altTextMax?.(connection.limits) ?? Infinity;
  return {
    key: leg.key,
    draft: withShortAltTexts(legDraft(run.post.draft, leg.network), altTextMax),
    account: connection.account,
    credentials,
    instanceUrl: connection.instanceUrl,
    limits: connection.limits,
    remote: leg.remote ?? {},
    sentAt: sentAt === null ? null : new Date(sentAt),
    isUnpublished: (unsent ?? leg).sentAt === null,
  };
}
