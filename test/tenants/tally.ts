import { keyStatus } from "../../src/shared/tenants/keys/key.ts";
import { newId } from "../../src/shared/runtime/ids.ts";
import type { NetworkName } from "../../src/shared/networks/networks.ts";
import { afterPrefix, type Table } from "../../src/shared/runtime/storage/table.ts";
import type { Row } from "../../src/shared/runtime/storage/row.ts";
import { aLinkedAccount, dataOf, type TestApplication } from "../setup/factories.ts";
import type { Relay } from "../setup/relay.ts";
import { saveLinked } from "../setup/stored.ts";

export interface Tally {
  readonly profiles: number;
  readonly activeApiKeys: number;
  readonly webhooks: number;
  readonly connections: number;
  readonly applications: number;
}

const ROWS_MAX = 10_000;

async function rowsOf(table: Table, partitionKey: string, prefix: string): Promise<Row[]> {
  const range = { partitionKey, from: prefix, before: afterPrefix(prefix), limit: ROWS_MAX };
  return (await table.list(range)).map(({ row }) => row);
}

/** What `GET /v1/me` counts: with the application's key, or for the whole platform. */
export async function countedBy(
  relay: Relay,
  { key, platform }: TestApplication,
  whole: "application" | "platform",
): Promise<Tally> {
  const as = whole === "platform" ? { session: platform.session } : { key };
  return dataOf(await relay.call("GET", "/v1/me", as)).counts;
}

/** The same, by going through every row that is to be counted. */
export async function tallyOf(
  relay: Relay,
  { id, platform }: TestApplication,
  whole: "application" | "platform",
): Promise<Tally> {
  const { core } = relay.tables;
  const isMeant = (row: Row) => whole === "platform" || row["applicationId"] === id;
  const isActive = (row: Row) => {
    const revoked = row["status"] === "revoked";
    const expiresAt = String(row["expiresAt"] ?? "") || null;
    return keyStatus({ revoked, expiresAt }, relay.clock.now()) === "active";
  };
  const [profiles, keys, webhooks, linked, applications] = await Promise.all([
    rowsOf(core, platform.id, "F|"),
    rowsOf(core, platform.id, "K|"),
    rowsOf(core, platform.id, "H|"),
    rowsOf(core, platform.id, "C|"),
    rowsOf(core, platform.id, "A|"),
  ]);
  return {
    profiles: profiles.filter(isMeant).length,
    activeApiKeys: keys.filter((row) => isMeant(row) && isActive(row)).length,
    webhooks: webhooks.filter(isMeant).length,
    connections: linked.filter((row) => row["status"] !== "revoked").length,
    applications: applications.length,
  };
}

/** Links an account of the profile, as the hosted page does at its end. */
export async function linkAccount(
  { services, clock }: Relay,
  { id: applicationId, platform }: TestApplication,
  { profileId, network }: { readonly profileId: string; readonly network: NetworkName },
): Promise<string> {
  const owner = { platformId: platform.id, applicationId, profileId };
  const account = newId("connection", clock.now());
  return await saveLinked(services, owner, network, aLinkedAccount(account));
}
