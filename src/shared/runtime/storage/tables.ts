import type { StorageAccount } from "../storage-account.ts";
import { RequestGate } from "./request-gate.ts";
import { Table } from "./table.ts";
import type { TokenCredential } from "@azure/identity";
import { invariant } from "../errors.ts";
import { DelegationKeys } from "./delegation-keys.ts";
import { Blobs, type BlobContainer } from "./blobs.ts";
import { Queue } from "./queue.ts";

/** The SDK never retries a write: if the answer to the first try was lost, the second would conflict with it. */
const tableOptions = { retryOptions: { maxRetries: 0 } };
/** The clients of queues and blobs count tries, not retries. */
const triedOnce = { retryOptions: { maxTries: 1 } };

/** One credential for all tables, queues and blobs. Each credential gets a token of its own, and issuing one is slow. */
const credentials = new Map<string | undefined, Promise<TokenCredential>>();

function credential(clientId: string | undefined): Promise<TokenCredential> {
  let known = credentials.get(clientId);
  // Loaded only when needed, because it takes a third of the start-up time.
  known ??= import("@azure/identity").then((identity) =>
    clientId === undefined
      ? new identity.DefaultAzureCredential()
      : new identity.ManagedIdentityCredential({ clientId }),
  );
  credentials.set(clientId, known);
  return known;
}

const INSECURE = /UseDevelopmentStorage=true|Endpoint=http:|DefaultEndpointsProtocol=http;/i;

/** Opens a table of an account. Nothing is loaded or connected before the first call. */
export function openTable(account: StorageAccount, name: string, gate?: RequestGate): Table {
  const open = async () => {
    const [{ TableClient }, { ServiceTable }] = await Promise.all([
      import("@azure/data-tables"),
      import("./table-wire.ts"),
    ]);
    if (account.kind === "connection_string") {
      const client = TableClient.fromConnectionString(account.connectionString, name, {
        ...tableOptions,
        allowInsecureConnection: INSECURE.test(account.connectionString),
      });
      return new ServiceTable(client);
    }
    const url = `https://${account.accountName}.table.core.windows.net`;
    const signing = await credential(account.clientId);
    return new ServiceTable(new TableClient(url, name, signing, tableOptions));
  };
  return new Table(open, gate);
}

/** Opens a queue of an account. Nothing is loaded or connected before the first call. */
export function openQueue(account: StorageAccount, name: string): Queue {
  return new Queue(async () => {
    const { QueueClient } = await import("@azure/storage-queue");
    if (account.kind === "connection_string")
      return new QueueClient(account.connectionString, name, triedOnce);
    const url = `https://${account.accountName}.queue.core.windows.net/${name}`;
    return new QueueClient(url, await credential(account.clientId), triedOnce);
  });
}

const KEY_TIMEOUT_MS = 10_000;

/** Opens a container of an account. Nothing is loaded or connected before the first call. */
export function openBlobs(account: StorageAccount, container: string): Blobs {
  return new Blobs(async (): Promise<BlobContainer> => {
    const { BlobServiceClient, generateBlobSASQueryParameters, StorageSharedKeyCredential } =
      await import("@azure/storage-blob");
    if (account.kind === "connection_string") {
      const { connectionString } = account;
      const service = BlobServiceClient.fromConnectionString(connectionString, triedOnce);
      const { credential: key } = service;
      if (!(key instanceof StorageSharedKeyCredential))
        throw new Error(
          "the connection string of the files' account has no key, which signs addresses",
        );
      return {
        client: service.getContainerClient(container),
        sign: (values) => Promise.resolve(generateBlobSASQueryParameters(values, key)),
        isInsecure: INSECURE.test(connectionString),
      };
    }
    const { accountName } = account;
    const url = `https://${accountName}.blob.core.windows.net`;
    const service = new BlobServiceClient(url, await credential(account.clientId), triedOnce);
    const keys = new DelegationKeys((startsOn, expiresOn) => {
      const abortSignal = AbortSignal.timeout(KEY_TIMEOUT_MS);
      return service.getUserDelegationKey(startsOn, expiresOn, { abortSignal });
    });
    return {
      client: service.getContainerClient(container),
      async sign(values) {
        const { expiresOn } = values;
        invariant(expiresOn !== undefined, "an address without end is signed");
        return generateBlobSASQueryParameters(values, await keys.keyFor(expiresOn), accountName);
      },
      isInsecure: false,
    };
  });
}

export const TABLE_NAMES = [
  /** Everything of a platform that changes together, from its wallet to its posts. PartitionKey: platform id. */
  "core",
  /** Which platform an API key belongs to, and when the key was last used. PartitionKey: key id. */
  "keys",
  /** Sign-in by email. PartitionKey: hash of the email address. */
  "emails",
  /** One-time links. PartitionKey: hash of the link's token, or id of the user that the links are for. */
  "links",
  /** Which platform has which authorization of a network. PartitionKey: network and hash of its id. */
  "authorizations",
  /** OAuth states and withdrawals. PartitionKey: hash of the OAuth state, or key of a withdrawal's notice. */
  "oauthstates",
  /** Client registrations, shared by all accounts of a host. PartitionKey: network and host. */
  "instances",
  /** Texts, quotas and queues of network accounts. PartitionKey: network and hash of the account's id. */
  "accounts",
  /** Work that is due, and when. PartitionKey: kind and minute. */
  "wake",
  /** Webhook deliveries, and the state of their endpoint. PartitionKey: endpoint id. */
  "deliveries",
  /** Dead webhook deliveries, the latest first, in one partition. */
  "dead",
  /** Events, in order. PartitionKey: application id. */
  "events",
  /** What workers did for a post, for people to read. PartitionKey: post id. */
  "timeline",
  /** Profiles that are being erased, in one partition. */
  "erasures",
  /** Positions of long walks, in one partition. */
  "housekeeping",
  /** Request counts (PartitionKey: shard and day) and failed logins (PartitionKey: shard). */
  "ratewindows",
] as const;

export type Tables = { readonly [Name in (typeof TABLE_NAMES)[number]]: Table };

interface TablesConfig {
  readonly data: StorageAccount;
  /** Prefix of all table names. */
  readonly prefix: string;
}

/** Opens every table of the app. None is connected before its first use. */
export function openTables({ data, prefix }: TablesConfig): Tables {
  const gate = new RequestGate();
  return Object.fromEntries(
    TABLE_NAMES.map((name) => [name, openTable(data, prefix + name, gate)]),
  ) as Tables;
}
