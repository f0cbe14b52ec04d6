import { validationFailed, type FailedCheck } from "../runtime/errors.ts";
import { networkOf, type NetworkName } from "../networks/networks.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import type { WithdrawalNotice } from "../networks/contract/network.ts";
import { grantIdOf, type ConnectionRef, type ProfileRef } from "./connection.ts";
import type { ConnectionsDeps } from "./deps.ts";
import { inBatches } from "../runtime/promises.ts";

const HOLDERS_OF_PAGE = 50;
const AT_ONCE = 10;
/** How long a network waits for the answer. A walk does what is left after that. */
const ANSWER_MS_MAX = 8_000;

/** Returns the networks that send notices of withdrawals, by the name of the sender. */
export function withdrawalSenders() {
  const all = NETWORK_NAMES.flatMap((name) => {
    const { withdrawals } = networkOf(name);
    return withdrawals === undefined ? [] : [withdrawals];
  });
  return [...new Map(all.map((one) => [one.sender, one] as const)).values()];
}

type SignedRequest = Readonly<Record<string, string>>;

function noticeIn(
  { config, clock }: Pick<ConnectionsDeps, "config" | "clock">,
  sender: string,
  fields: SignedRequest,
): (WithdrawalNotice & { readonly network: NetworkName }) | FailedCheck {
  const failed: FailedCheck[] = [];
  for (const network of NETWORK_NAMES) {
    const { withdrawals } = networkOf(network);
    const app = config.networkApps[network];
    if (withdrawals?.sender !== sender || app === undefined) continue;
    const notice = withdrawals.read(fields[withdrawals.field] ?? "", app, clock.now());
    if ("key" in notice) return { ...notice, network };
    failed.push(notice);
  }
  if (failed.length === 0) return { check: "settings", expected: `an app of ${sender}` };
  // A notice is signed with one app's secret. For that app, another check than the signature has failed.
  const told = failed.find(({ check }) => check !== "signature");
  const expected = failed.map((one) => one.expected).join(" or ");
  return told ?? { check: "signature", expected };
}

/**
 * Accepts a network's notice that a person has withdrawn an authorization, and ends all connections that use it, of any
 * tenant. Returns the notice's key, which doesn't depend on whether the person is known. A notice that came before
 * changes nothing, so an account that was linked again since stays linked.
 * @throws AppError `validation_failed` for a notice that the network did not sign, or signed too long ago
 */
export async function receiveWithdrawal(
  services: ConnectionsDeps,
  sender: string,
  fields: SignedRequest,
): Promise<string> {
  const notice = noticeIn(services, sender, fields);
  if ("check" in notice) {
    const message = "must be signed with an app's secret, within the last 24 hours";
    const [path = "body"] = Object.keys(fields);
    throw validationFailed([{ path, code: "invalid_signature", message }], notice);
  }
  const { key, network, grantId } = notice;
  await services.stores.withdrawals.open(key, { network, grantId }, services.clock.now());
  try {
    await finishWithdrawal(services, key, ANSWER_MS_MAX);
  } catch (error) {
    services.log.warn("a withdrawal is not finished", { network, error });
  }
  return key;
}

/** Ends the connections of a withdrawal within `msMax`. Returns whether none is left. May be repeated. */
export async function finishWithdrawal(
  services: Pick<ConnectionsDeps, "log" | "stores">,
  key: string,
  msMax: number,
): Promise<boolean> {
  const endsAt = performance.now() + msMax;
  const found = await services.stores.withdrawals.find(key);
  if (found?.isOpen !== true) return true;
  const { network, grantId } = found;
  let isWhole = true;
  for (let after: string | undefined = ""; after !== undefined;) {
    if (performance.now() > endsAt) return false;
    const holders: readonly ProfileRef[] = await services.stores.authorizations.holdersAfter(
      network,
      grantId,
      after,
      HOLDERS_OF_PAGE,
    );
    const ended = await inBatches(holders, AT_ONCE, (holder) =>
      endWithdrawn(services, { ...holder, network }, grantId),
    );
    isWhole = ended.every(Boolean) && isWhole;
    after = holders.length < HOLDERS_OF_PAGE ? undefined : holders.at(-1)?.profileId;
  }
  if (isWhole) await services.stores.withdrawals.close(key);
  return isWhole;
}

/** Ends a profile's connection if it uses the authorization. A failure must not stop the others. */
async function endWithdrawn(
  services: Pick<ConnectionsDeps, "log" | "stores">,
  ref: ConnectionRef,
  grantId: string,
): Promise<boolean> {
  const { profileId, network } = ref;
  try {
    const found = await services.stores.connections.find(ref);
    if (found === undefined || found.status === "revoked") return true;
    if (grantIdOf(found) !== grantId) return true;
    await services.stores.connections.revoke(found, "deauthorized_at_network");
    services.log.info("a connection was ended at the network", { network, connection: found.id });
    return true;
  } catch (error) {
    services.log.error("a connection could not be ended", { network, profileId, error });
    return false;
  }
}
