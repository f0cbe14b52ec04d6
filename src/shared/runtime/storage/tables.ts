import type { StorageAccount } from "../storage-account.ts";
import { Table } from "./table.ts";
import type { TokenCredential } from "@azure/identity";
import { Queue } from "./queue.ts";

/** Writes are never retried by the SDK: a repeated write whose first answer was lost reports a conflict with itself. */
const tableOptions = { retryOptions: { maxRetries: 0 } };
/** The queue's client counts tries, not retries. */
const queueOptions = { retryOptions: { maxTries: 1 } };

/** One credential for all tables and queues: each has its own token, and the platform is slow to issue one. */
const credentials = new Map<string | undefined, Promise<TokenCredential>>();

function credential(clientId: string | undefined): Promise<TokenCredential> {
  const known = credentials.get(clientId) ?? makeCredential(clientId);
  credentials.set(clientId, known);
  return known;
}

async function makeCredential(clientId: string | undefined): Promise<TokenCredential> {
  // Loaded only where it is used: it costs a third of the start-up time.
  const { DefaultAzureCredential, ManagedIdentityCredential } = await import("@azure/identity");
  return clientId === undefined
    ? new DefaultAzureCredential()
    : new ManagedIdentityCredential({ clientId });
}

function isInsecure(connectionString: string): boolean {
  return /UseDevelopmentStorage=true|Endpoint=http:|DefaultEndpointsProtocol=http;/i.test(
    connectionString,
  );
}

/** Opens a table of an account. Loads and dials nothing before the first call. */
export function openTable(account: StorageAccount, name: string): Table {
  return new Table(async () => {
    const [{ TableClient }, { ServiceTable }] = await Promise.all([
      import("@azure/data-tables"),
      import("./table-wire.ts"),
    ]);
    if (account.kind === "connection_string") {
      const client = TableClient.fromConnectionString(account.connectionString, name, {
        ...tableOptions,
        allowInsecureConnection: isInsecure(account.connectionString),
      });
      return new ServiceTable(client);
    }
    const url = `https://${account.accountName}.table.core.windows.net`;
    const signing = await credential(account.clientId);
    return new ServiceTable(new TableClient(url, name, signing, tableOptions));
  });
}

/** Opens a queue of an account. Loads and dials nothing before the first call. */
export function openQueue(account: StorageAccount, name: string): Queue {
  return new Queue(async () => {
    const { QueueClient } = await import("@azure/storage-queue");
    if (account.kind === "connection_string")
      return new QueueClient(account.connectionString, name, queueOptions);
    const url = `https://${account.accountName}.queue.core.windows.net/${name}`;
    return new QueueClient(url, await credential(account.clientId), queueOptions);
  });
}

export const TABLE_NAMES = [
  /** Everything of a platform that changes together, from its wallet to its posts. PartitionKey = platform id. */
  "core",
  /** Where an API key is, and when it was last used. PartitionKey = key id. */
  "keys",
  /** Sign-in by e-mail. PartitionKey = hash of the e-mail. */
  "emails",
  /** One-time links. PartitionKey = hash of the link's token, or the user whose links they are. */
  "links",
  /** Who may have which authorisation of a network. PartitionKey = network and hash of the authorisation's id. */
  "authorisations",
  /** PartitionKey = hash of the OAuth state, or key of a withdrawal's notice. */
  "oauthstates",
  /** Client registrations, which all accounts of a host share. PartitionKey = network and host. */
  "instances",
  /** Texts, quotas and the queues of real network accounts. PartitionKey = network and hash of the account's id. */
  "accounts",
  /** What is to be looked at, and when. PartitionKey = kind and minute. */
  "wake",
  /** Webhook deliveries, and the state of their endpoint. PartitionKey = endpoint id. */
  "deliveries",
  /** Webhook deliveries that are dead, the latest first. One partition. */
  "dead",
  /** Events, in order. PartitionKey = application id. */
  "events",
  /** What workers did for a post, for people to read. PartitionKey = post id. */
  "timeline",
  /** Profiles that are being erased. One partition. */
  "erasures",
  /** Positions of long walks. One partition. */
  "housekeeping",
  /** Requests counted by subject and minute: PartitionKey = shard and day. Failed log-ins: PartitionKey = shard. */
  "ratewindows",
] as const;

export type Tables = { readonly [Name in (typeof TABLE_NAMES)[number]]: Table };

interface TablesConfig {
  readonly data: StorageAccount;
  /** What the names of all tables begin with. */
  readonly prefix: string;
}

/** Opens every table of the app; none is dialled before its first use. */
export function openTables({ data, prefix }: TablesConfig): Tables {
  return Object.fromEntries(
    TABLE_NAMES.map((name) => [name, openTable(data, prefix + name)]),
  ) as Tables;
}
