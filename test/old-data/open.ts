import { TableClient } from "@azure/data-tables";
import { QueueServiceClient } from "@azure/storage-queue";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSandbox, type Sandbox } from "../../dev/networks/server.ts";
import { startRelay, type Answer, type Relay } from "../setup/relay.ts";
import { startReceiver, type Receiver } from "../webhooks/receiver.ts";
import {
  dumpedMessages,
  dumpedRows,
  FOLDER,
  knownOfDump,
  type DumpedMessage,
  type DumpedRow,
} from "./dumped.ts";

const BASE = "http://localhost:7071/api";
const MINUTE = 60_000;
const TRANSACTION_ROWS_MAX = 100;
const insecure = { allowInsecureConnection: true };
/** Servers that the dump's accounts are on, beside those that the sandbox names itself. */
const SERVERS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh"];

/** The present build over what 0.2.0 left behind, at the time at which it did. */
export interface OldData {
  readonly relay: Relay;
  readonly sandbox: Sandbox;
  readonly receiver: Receiver;
  readonly known: ReturnType<typeof knownOfDump>;
  page(
    method: "GET" | "POST",
    address: string,
    call?: {
      readonly headers?: Readonly<Record<string, string>>;
      readonly form?: Readonly<Record<string, string>>;
    },
  ): Promise<Answer>;
  /** Lets minutes pass, in which timers run and queues are worked through. */
  pass(minutes: number, stepMinutes?: number): Promise<void>;
  close(): Promise<void>;
}

async function loadTable(relay: Relay, table: string, rows: readonly DumpedRow[]): Promise<void> {
  const { AzureWebJobsStorage = "", STORAGE_PREFIX = "" } = relay.settings;
  const name = STORAGE_PREFIX + table;
  const client = TableClient.fromConnectionString(AzureWebJobsStorage, name, insecure);
  await client.createTable();
  const partitions = Map.groupBy(rows, ({ partitionKey }) => partitionKey);
  for (const own of partitions.values())
    for (let start = 0; start < own.length; start += TRANSACTION_ROWS_MAX) {
      const batch = own.slice(start, start + TRANSACTION_ROWS_MAX);
      await client.submitTransaction(
        batch.map(({ partitionKey, rowKey, columns }) => [
          "create",
          { partitionKey, rowKey, ...columns },
        ]),
      );
    }
}

async function loadTables(relay: Relay): Promise<void> {
  const tables = Map.groupBy(dumpedRows(), ({ table }) => table);
  await Promise.all([...tables].map(([table, rows]) => loadTable(relay, table, rows)));
}

/** Puts messages into the emulator's queues once they are to be seen. */
class OldQueues {
  readonly #relay: Relay;
  #waiting: readonly DumpedMessage[] = dumpedMessages();

  constructor(relay: Relay) {
    this.#relay = relay;
  }

  async putDue(): Promise<void> {
    const { AzureWebJobsStorage = "", STORAGE_PREFIX = "" } = this.#relay.settings;
    const service = QueueServiceClient.fromConnectionString(AzureWebJobsStorage);
    const now = this.#relay.clock.now().toISOString();
    const due = this.#waiting.filter(({ visibleAt }) => visibleAt <= now);
    this.#waiting = this.#waiting.filter((message) => !due.includes(message));
    for (const { queue, text } of due) {
      const client = service.getQueueClient(STORAGE_PREFIX + queue);
      await client.createIfNotExists();
      await client.sendMessage(Buffer.from(text).toString("base64"));
    }
  }
}

export async function openOldData(): Promise<OldData> {
  const known = knownOfDump();
  const folder = mkdtempSync(join(tmpdir(), "old-data-"));
  cpSync(join(FOLDER, "sandbox"), folder, { recursive: true });
  let started: Relay | undefined;
  const sandbox = await startSandbox({
    state: folder,
    now: () => started?.clock.now().getTime() ?? Date.parse(known.now),
  });
  const receiver = await startReceiver();
  const hosts = [...sandbox.hosts, ...SERVERS.map((name) => `${name}.sandbox.test`)];
  const receivers = JSON.parse(receiver.settings["OUTBOUND_HOST_MAP"] ?? "{}") as object;
  const relay = await startRelay({
    emulatedTables: true,
    settings: {
      ...known.settings,
      OUTBOUND_HOST_MAP: JSON.stringify({
        ...Object.fromEntries(hosts.map((host) => [host, sandbox.url])),
        ...receivers,
      }),
      OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32",
    },
  });
  relay.advance(Date.parse(known.now) - relay.clock.now().getTime());
  started = relay;
  await loadTables(relay);
  const queues = new OldQueues(relay);
  const work = async () => {
    await queues.putDue();
    // What one kind of queue brings may lie in the other.
    while ((await relay.drainStored()) + (await relay.drain()) > 0);
  };
  return {
    relay,
    sandbox,
    receiver,
    known,
    page(method, address, { headers, form } = {}) {
      const type = { "content-type": "application/x-www-form-urlencoded" };
      return relay.call(method, address.slice(BASE.length), {
        headers: { ...headers, ...(form === undefined ? {} : type) },
        ...(form === undefined ? {} : { rawBody: new URLSearchParams(form).toString() }),
      });
    },
    async pass(minutes, stepMinutes = 1) {
      await work();
      for (let minute = 0; minute < minutes; minute += stepMinutes) {
        relay.advance(stepMinutes * MINUTE);
        for (const timer of [
          "fire-due-posts",
          "hint-due-deliveries",
          "sweep-stalled-work",
          "erase-profiles",
        ])
          await relay.runTimer(timer);
        await work();
      }
    },
    async close() {
      await relay.stop();
      await receiver.stop();
      await sandbox.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
