import { linkMastodon, publish, type Customer } from "../../process/relay/customer.ts";
import { dataOf, type RelayProcess } from "../../process/relay/relay-process.ts";

/** The processes that a round is about: keys are revoked on the one, and used on the other. */
interface Processes {
  readonly office: RelayProcess;
  readonly branch: RelayProcess;
}

/** Links an account, publishes with it, and returns the post's id. */
export async function aPostToRead(relay: RelayProcess, customer: Customer): Promise<string> {
  await linkMastodon(relay, customer, "mastodon.sandbox.test");
  const text = "To be read until the key is revoked";
  const { id } = dataOf(await publish(relay, customer, { platforms: ["mastodon"], text }));
  return String(id);
}

/**
 * Makes a key, reads what is at the path with it on the one process, revokes it on the other, and reads again at once. Returns the
 * statuses of the reads: two before the revoke, of which the second finds cached rows, and one after it.
 */
export async function readAroundRevoke(
  { office, branch }: Processes,
  { session, applicationId, profileId }: Pick<Customer, "session" | "applicationId" | "profileId">,
  path: string,
): Promise<readonly number[]> {
  const body = { name: "read", scope: "restricted", allowedProfileIds: [profileId], applicationId };
  const made = dataOf(await office.call("POST", "/v1/keys", { bearer: session, body }));
  const headers = { "x-profile-id": profileId };
  const read = async () => {
    const call = { bearer: String(made.secret), headers };
    return (await branch.call("GET", path, call)).status;
  };
  const before = [await read(), await read()];
  const revoked = await office.call("POST", `/v1/keys/${made.id}/revoke`, { bearer: session });
  if (revoked.status >= 300) throw new Error(`the revoke was answered with ${revoked.status}`);
  return [...before, await read()];
}
