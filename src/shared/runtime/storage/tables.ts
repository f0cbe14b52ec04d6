import type { Config } from "../config.ts";
import { openTable } from "./account.ts";
import type { Table } from "./table.ts";

export const TABLE_NAMES = [
  /** Wallet, ledger, idempotency, posts, legs, open work. PartitionKey = platform id. */
  "core",
  /** Platforms, applications, profiles, staff. PartitionKey = platform id. */
  "tenants",
  /** API keys. PartitionKey = key id. */
  "keys",
  /** Sign-in by e-mail. PartitionKey = hash of the e-mail. */
  "emails",
  /** Linked accounts with sealed credentials. PartitionKey = profile id. */
  "connections",
  /** PartitionKey = connect session id. */
  "connectsessions",
  /** PartitionKey = hash of the OAuth state. */
  "oauthstates",
  /** What all accounts of one host share: client registrations. PartitionKey = network and host. */
  "instances",
  /** Texts and quotas of real network accounts. PartitionKey = network and hash of the account's id. */
  "accounts",
  /** Scheduled posts. PartitionKey = minute. */
  "due",
  /** Webhook deliveries that wait for an attempt. PartitionKey = minute. */
  "duedeliveries",
  /** Webhook deliveries, and how their endpoint does. PartitionKey = endpoint id. */
  "deliveries",
  /** Webhook deliveries that are dead, the latest first. One partition. */
  "dead",
  /** What happened, in order. PartitionKey = application id. */
  "events",
  /** What workers did for a post, for people to read. PartitionKey = post id. */
  "timeline",
  /** Profiles that are being erased. One partition. */
  "erasures",
  /** How far long searches of the service came, and messages that no worker could do. */
  "housekeeping",
  /** Platforms with open work. PartitionKey = minute. */
  "dirty",
  /** Requests counted by subject and minute: PartitionKey = shard and day. Failed log-ins: PartitionKey = shard. */
  "ratewindows",
] as const;

export type Tables = { readonly [Name in (typeof TABLE_NAMES)[number]]: Table };

/** Every table of the app; none is dialled before its first use. */
export function openTables(config: Config): Tables {
  const { data, prefix } = config.storage;
  return Object.fromEntries(
    TABLE_NAMES.map((name) => [name, openTable(data, prefix + name)]),
  ) as Tables;
}
