import type { LegErrorCode } from "../networks/contract/errors.ts";
import type { LegFailure } from "../networks/contract/network.ts";
import type { ConnectionsDeps } from "./deps.ts";
import type { Connection } from "./connection.ts";
import { emitPendingEvents } from "./emit-pending-events.ts";

/** What only the end user can cure, by linking the account anew. */
const BROKEN: ReadonlySet<LegErrorCode> = new Set<LegErrorCode>([
  "connection_needs_reauth",
  "permission_missing",
  "account_restricted",
]);

/**
 * Marks the connection when the network refused the account itself, and tells the customer once. Answers whether it
 * did refuse that; a refusal of credentials that were replaced meanwhile changes nothing.
 */
export async function markIfRefused(
  services: ConnectionsDeps,
  connection: Connection,
  failure: LegFailure,
): Promise<boolean> {
  if (!BROKEN.has(failure.code)) return false;
  const { profileId, network, generation } = connection;
  if (await services.connections.markNeedsReauth(profileId, network, generation, failure))
    await emitPendingEvents(services, connection);
  return true;
}
