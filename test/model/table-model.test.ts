import { expect, test } from "vitest";
import { describeTable } from "../runtime/storage/table-contract.ts";
import { Machine, natureOf } from "./machine.ts";
import { ModelClient, tableOver } from "./model-client.ts";
import { Random } from "./random.ts";
import { WRITE_FAULTS_BY_NAME } from "./storage-model.ts";
import { PartitionLoad } from "./partition-load.ts";
import { StorageError, TableModel } from "./table-model.ts";
import { inVirtualTime, VirtualTime } from "./virtual-time.ts";
import { FAIR } from "./weather.ts";

/** Time that runs as fast as it can, beside the test's own. */
class RunningTime extends VirtualTime {
  override set(run: () => void, ms: number, everyMs?: number): number {
    const id = super.set(run, ms, everyMs);
    setImmediate(() => void this.pass(this.now + ms));
    return id;
  }
}

const nature = natureOf(new RunningTime(0), new Random(1));
const model = new TableModel();
const machine = new Machine("contract", nature);
const faulty = new ModelClient(model, machine, "contract");
let tables = 0;

describeTable("a table of the model", {
  table: () => tableOver(new ModelClient(model, machine, "contract")),
  faulty: () => tableOver(faulty),
  async during(fault, call) {
    faulty.fault = WRITE_FAULTS_BY_NAME[fault];
    try {
      return await call();
    } finally {
      faulty.fault = undefined;
    }
  },
  async once(fault, call) {
    machine.fate = () => {
      machine.fate = undefined;
      return WRITE_FAULTS_BY_NAME[fault];
    };
    try {
      return await call();
    } finally {
      machine.fate = undefined;
    }
  },
  fresh() {
    tables += 1;
    const open = () => tableOver(new ModelClient(model, machine, `fresh ${tables}`));
    return [open(), open()];
  },
});

test("a list is whole although pages are short, empty or not answered", async () => {
  const table = tableOver(new ModelClient(model, machine, "pages"));
  const keys = Array.from({ length: 60 }, (_, n) => `k${String(n).padStart(2, "0")}`);
  for (const rowKey of keys) await table.put("p", { rowKey });
  nature.rates = { ...FAIR, page: 0.9 };
  try {
    for (const limit of [1, 10, 60, 100]) {
      const rows = await table.list({ partitionKey: "p", limit });
      expect(rows.map(({ row }) => row.rowKey)).toEqual(keys.slice(0, limit));
    }
  } finally {
    nature.rates = FAIR;
  }
});

test("a dead process hears nothing, and what it had on the wire may still arrive", async () => {
  const SEEDS = 20;
  let arrived = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const name = `dying ${seed}`;
    model.createTable(name);
    const dying = new Machine(name, natureOf(new RunningTime(0), new Random(seed)));
    dying.crashAt = 1;
    let isHeard = false;
    const hear = () => (isHeard = true);
    void tableOver(new ModelClient(model, dying, name))
      .put("p", { rowKey: "a" })
      .then(hear, hear);
    expect(await dying.died).toBe("died");
    await dying.nature.time.pass(dying.nature.time.now + 60_000);
    expect(isHeard).toBe(false);
    arrived += [...model.rows(name)].length;
  }
  expect(arrived).toBeGreaterThan(0);
  expect(arrived).toBeLessThan(SEEDS);
});

const wide = (columns: number) =>
  Object.fromEntries(Array.from({ length: columns }, (_, n) => [`c${n}`, "x".repeat(30_000)]));

function codeOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof StorageError) return error.details.odataError.code;
    throw error;
  }
}

test("a row has 1 MiB at most, and a transaction 4 MiB", () => {
  const limited = new TableModel();
  limited.createTable("t");
  const put = (rows: number, columns: number) =>
    codeOf(() =>
      limited.transact(
        "t",
        "p",
        Array.from({ length: rows }, (_, n) => {
          return { kind: "put", rowKey: `${n}`, properties: wide(columns) } as const;
        }),
      ),
    );
  expect(put(1, 17)).toBeUndefined();
  expect(put(1, 18)).toBe("EntityTooLarge");
  expect(put(8, 17)).toBeUndefined();
  expect(put(9, 17)).toBe("RequestBodyTooLarge");
});

test("a partition does 2,000 entities at once after a rest, and 2,000 a second from then on", () => {
  const load = new PartitionLoad();
  const taken = Array.from({ length: 30 }, () => load.take("p", 100, 1_500)).filter(Boolean);
  expect(taken).toHaveLength(20);
  expect(load.take("other", 100, 1_500)).toBe(true);
  expect(load.take("p", 100, 1_549)).toBe(false);
  expect(load.take("p", 100, 1_550)).toBe(true);
  expect(load.take("p", 100, 1_550)).toBe(false);
});

test("a call that takes longer than its caller waits is given up, and done all the same", async () => {
  const random = new Random(3);
  const time = new VirtualTime(0);
  const slow = new Machine("slow", natureOf(time, random));
  slow.nature.rates = { ...FAIR, slow: 1 };
  const tables = new TableModel();
  tables.createTable("t");
  const table = tableOver(new ModelClient(tables, slow, "t"));
  const errors: unknown[] = [];
  await inVirtualTime(time, random, async () => {
    for (let n = 0; n < 40; n += 1)
      void table
        .insertIfAbsent("p", { rowKey: `${n}` })
        .catch((error: unknown) => errors.push(error));
    await time.pass(60_000);
  });
  expect(errors.length).toBeGreaterThan(0);
  for (const error of errors) expect(error).toMatchObject({ code: "service_unavailable" });
  expect(slow.nature.counts.timeouts).toBe(errors.length);
  expect([...tables.rows("t")]).toHaveLength(40);
});
