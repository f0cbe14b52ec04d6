import { fork } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { TableClient, type TransactionAction } from "@azure/data-tables";
import { ServiceTable } from "../src/shared/runtime/storage/table-wire.ts";
import { tableText } from "./report.ts";
import { ratio, saveResults } from "./results.ts";
import { runBench } from "./run.ts";

const CALLS = 3_000;
const WARM_UP_CALLS = 600;
const AT_ONCE = [32, 1] as const;
const COLUMNS = 15;

interface Contest {
  readonly name: string;
  readonly sdk: () => Promise<unknown>;
  readonly own: () => Promise<unknown>;
}

function rowOf(index: number) {
  const columns = Array.from({ length: COLUMNS }, (_, column) => [
    `column${column}`,
    column % 3 === 0 ? column : `a value of some length ${column}`,
  ]);
  const row: Record<string, string | number> = Object.fromEntries(columns);
  return { ...row, rowKey: `row|${index}` };
}

const patience = () => AbortSignal.timeout(10_000);

function transaction(client: TableClient, own: ServiceTable, count: number): Contest {
  const rows = Array.from({ length: count }, (_, index) => rowOf(index));
  const writes = rows.map((row) => ({ kind: "create", row }) as const);
  const actions = rows.map((row): TransactionAction => ["create", { partitionKey: "p", ...row }]);
  return {
    name: `${count} rows in one`,
    sdk: () => client.submitTransaction(actions, { abortSignal: patience() }),
    own: () => own.transact("p", writes, patience()),
  };
}

function contestsOf(client: TableClient): Contest[] {
  const own = new ServiceTable(client);
  const filter = "PartitionKey eq 'p' and RowKey ge 'a' and RowKey lt 'z'";
  const row = rowOf(1);
  const entity = { partitionKey: "p", ...row };
  return [
    transaction(client, own, 9),
    transaction(client, own, 70),
    {
      name: "find a row",
      sdk: () => client.getEntity("p", "r", { abortSignal: patience() }),
      own: () => own.find("p", "r", patience()),
    },
    {
      name: "insert a row",
      sdk: () => client.createEntity(entity, { abortSignal: patience() }),
      own: () => own.write("p", { kind: "create", row }, patience()),
    },
    {
      name: "list six of them",
      sdk: async () => {
        const options = { queryOptions: { filter }, abortSignal: patience() };
        for await (const page of client.listEntities(options).byPage({ maxPageSize: 9 }))
          return page;
        return [];
      },
      own: () => own.page({ filter, rows: 9, after: undefined }, patience()),
    },
  ];
}

/** CPU time of this process for each call, in microseconds. */
async function cpuOf(call: () => Promise<unknown>, atOnce: number): Promise<number> {
  const make = async (calls: number) => {
    let left = calls;
    const caller = async () => {
      while ((left -= 1) >= 0) await call();
    };
    await Promise.all(Array.from({ length: atOnce }, caller));
  };
  await make(WARM_UP_CALLS);
  const before = process.cpuUsage();
  await make(CALLS);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

async function measure({ name, sdk, own }: Contest) {
  const costs: { atOnce: number; sdk: number; own: number }[] = [];
  for (const atOnce of AT_ONCE)
    costs.push({ atOnce, sdk: await cpuOf(sdk, atOnce), own: await cpuOf(own, atOnce) });
  return { name, costs };
}

async function main(): Promise<void> {
  const server = fork(new URL("./wire-server.ts", import.meta.url));
  const [port] = (await once(server, "message")) as [number];
  const key = Buffer.alloc(32, 1).toString("base64");
  const client = TableClient.fromConnectionString(
    `DefaultEndpointsProtocol=http;AccountName=a;AccountKey=${key};TableEndpoint=http://127.0.0.1:${port}/a;`,
    "any",
    { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } },
  );
  const all: Awaited<ReturnType<typeof measure>>[] = [];
  for (const contest of contestsOf(client)) all.push(await measure(contest));
  const heads = AT_ONCE.flatMap((atOnce) => [`SDK's, ${atOnce} at once`, "ours", "of SDK's"]);
  console.log(
    tableText([
      ["µs of CPU time", ...heads],
      ...all.map(({ name, costs }) => [
        name,
        ...costs.flatMap(({ sdk, own }) => [
          sdk.toFixed(0),
          own.toFixed(0),
          (own / sdk).toFixed(2),
        ]),
      ]),
    ]),
  );
  console.log(`${availableParallelism()} cores`);
  const ofSdk = all.map(({ name, costs }) => [
    name,
    Object.fromEntries(
      costs.map(({ atOnce, sdk, own }) => [`${atOnce} at once`, ratio(own / sdk)]),
    ),
  ]);
  await saveResults("wireOfSdk", Object.fromEntries(ofSdk));
  server.disconnect();
}

runBench(main);
