import { subjectOf } from "../networks/contract/blame.ts";
import type { LegFailure } from "../networks/contract/outcome.ts";
import type { Connection } from "./connection.ts";
import type { ConnectionsDeps } from "./deps.ts";

/** Records that the network accepted an account, and marks those that it refuses although it accepts the app. */
export async function recordAccepted(
  { linking, stores }: Pick<ConnectionsDeps, "stores" | "linking">,
  accepted: Connection,
): Promise<void> {
  for (const { connection, failure } of linking.appFaults.accepted(accepted))
    await stores.connections.mark(connection, ofAccount(connection.network, failure));
}

/** Returns a refusal of an account in the account's own words, whatever the network said. */
export function ofAccount(network: string, failure: LegFailure): LegFailure {
  if (subjectOf(failure) === "account") return failure;
  return {
    ...failure,
    code: "connection_needs_reauth",
    rule: `${network}.account.refused`,
  };
}
