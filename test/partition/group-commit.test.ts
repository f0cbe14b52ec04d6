import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  chargeTogether,
  creditWallet,
  walletWrites,
  markerKey,
} from "../../src/shared/ledger/ledger.ts";
import type { PartitionOperation } from "../../src/shared/partition/partition.ts";
import { HEAD_KEY } from "../../src/shared/partition/head-row.ts";
import { GroupCommit } from "../../src/shared/partition/group-commit.ts";
import { AppError, serviceUnavailable } from "../../src/shared/runtime/errors.ts";
import { InvalidTransaction, keyOfWrite } from "../../src/shared/runtime/storage/row.ts";
import { isInBackground } from "../../src/shared/runtime/telemetry/work-context.ts";
import { PATIENCE_MS } from "../setup/bounds.ts";
import { casesOf } from "../setup/long-check.ts";
import {
  acceptanceOf,
  chargeOf,
  codeOf,
  instanceOf,
  through,
  type Instance,
} from "./wallet-processes.ts";
import {
  CALM,
  type Fault,
  MemoryPartition,
  type PartitionAccess,
  type Weather,
} from "./memory-partition.ts";
import { inWork } from "../setup/in-work.ts";

afterEach(() => {
  vi.useRealTimers();
});

const charge = ({ services }: Instance, id: string, tokens: number) =>
  chargeTogether(services.ledger, "plt_test", [chargeOf(id, tokens)]);
const credit = ({ services }: Instance, id: string, tokens: number) =>
  creditWallet(services.ledger, "plt_test", chargeOf(id, tokens, "credit"));

function start(weather: Weather = CALM) {
  const partition = new MemoryPartition();
  return { partition, instance: instanceOf(partition, weather) };
}

/** The given faults one after the other, then fair weather. */
function faults(...coming: readonly (Fault | undefined)[]): Weather {
  const left = [...coming];
  return { ...CALM, transactionFault: () => left.shift() };
}

describe("writing together", () => {
  test("an idle wallet writes at once, and while it does the next operations gather", async () => {
    const { partition, instance } = start();
    await credit(instance, "tokens", 1_000);
    await vi.waitFor(() => expect(instance.commit.idle).toBe(true), PATIENCE_MS);
    partition.sizes.length = 0;
    await Promise.all(Array.from({ length: 21 }, (_, index) => charge(instance, `${index}`, 1)));
    // The first alone (head, wallet, entry, marker), then twenty in one: head, wallet, and two rows each.
    expect(partition.sizes).toEqual([4, 42]);
    expect(partition.wallet.balance).toBe(979);
  });

  test("a caller's operation that joins a worker's waits for no other requests of workers", async () => {
    const { partition, instance } = start();
    const seen: boolean[] = [];
    const own = partition.seenBy(CALM, () => new Date());
    const commit = new GroupCommit({
      ...own,
      readHead: () => (seen.push(isInBackground()), own.readHead()),
      transact: (writes) => (seen.push(isInBackground()), own.transact(writes)),
    });
    await credit(instance, "tokens", 1_000);
    const ofWorker = inWork({ parents: [], isBackground: true }, () =>
      commit.submit(acceptanceOf("worker").operation),
    );
    await Promise.all([ofWorker, commit.submit(acceptanceOf("caller").operation)]);
    expect(seen.length).toBeGreaterThan(2);
    expect(seen).not.toContain(true);
  });

  test("a transaction never holds more than 98 rows, and nobody is left out", async () => {
    const { partition, instance } = start();
    await credit(instance, "tokens", 10_000);
    const keys = Array.from({ length: 150 }, (_, index) => `key ${index}`);
    await Promise.all(keys.map((key) => instance.commit.submit(acceptanceOf(key).operation)));
    expect(Math.max(...partition.sizes)).toBeLessThanOrEqual(98);
    expect(partition.sizes.length).toBeLessThan(20);
    expect(partition.wallet.reserved).toBe(150 * 20);
    expect(partition.entered.slice(1)).toEqual(keys.map((key) => `reserve|${key}|`));
  });

  test("the same operation asked for twice at once is one, with one answer", async () => {
    const { partition, instance } = start();
    await credit(instance, "tokens", 100);
    const { operation, post } = acceptanceOf("key");
    const again = acceptanceOf("key").operation;
    const answers = await Promise.all([
      charge(instance, "busy", 1),
      instance.commit.submit(operation),
      instance.commit.submit(again),
    ]);
    expect(answers.slice(1).map((committed) => committed?.result.postId)).toEqual([
      post.id,
      post.id,
    ]);
    expect(partition.entered.filter((label) => label === "reserve|key|")).toHaveLength(1);
  });

  test("the same operation asked for again later is found done", async () => {
    const { partition, instance } = start();
    expect(await credit(instance, "gift", 50)).toEqual({ applied: true, sequence: 1 });
    expect(await credit(instance, "gift", 50)).toEqual({ applied: false, sequence: 1 });
    expect(partition.wallet.balance).toBe(50);
  });

  test("a refused operation is answered alone while the others are written", async () => {
    const { partition, instance } = start();
    await credit(instance, "tokens", 10);
    const outcomes = await Promise.all(
      [4, 100, 5, 2].map((tokens, index) => codeOf(charge(instance, `${index}`, tokens))),
    );
    expect(outcomes).toEqual(["ok", "insufficient_tokens", "ok", "insufficient_tokens"]);
    expect(partition.wallet.balance).toBe(1);
  });

  test("a change of the wallet that moves no tokens is written without a ledger entry", async () => {
    const { partition, instance } = start();
    await credit(instance, "tokens", 100);
    await instance.commit.submit({
      id: "budget",
      rowKeys: [],
      decide: (view) => ({
        kind: "write",
        writes: walletWrites(view, { dailyBudget: 5 }),
        answer: "set",
      }),
    });
    expect(partition.wallet.dailyBudget).toBe(5);
    expect(partition.ledger()).toHaveLength(1);
    expect(await codeOf(charge(instance, "too much", 6))).toBe("daily_budget_reached");
  });

  test("every transaction changes the head's version, one that moves no tokens too", async () => {
    const { partition, instance } = start();
    await credit(instance, "tokens", 100);
    const before = partition.rows.get(HEAD_KEY);
    await instance.commit.submit({
      id: "row",
      rowKeys: [],
      decide: () => ({
        kind: "write",
        writes: [{ kind: "create", row: { rowKey: "A" } }],
        answer: "written",
      }),
    });
    expect(partition.rows.get(HEAD_KEY)?.row).toEqual(before?.row);
    expect(partition.rows.get(HEAD_KEY)?.etag).not.toBe(before?.etag);
  });
});

describe("a transaction whose answer can't be believed", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  });

  /** Long enough for every retry and every late write. */
  async function afterAll<T>(asked: Promise<T>): Promise<T> {
    await vi.advanceTimersByTimeAsync(20_000);
    return await asked;
  }

  test.each<[Fault]>([["error_before"], ["error_after"], ["late"], ["false_412"], ["refused"]])(
    "%s: the operation is applied exactly once and answered ok",
    async (fault) => {
      const { partition, instance } = start(faults(undefined, fault));
      await afterAll(credit(instance, "tokens", 10));
      // All of it: applied twice it would not fit.
      expect(await afterAll(codeOf(charge(instance, "all", 10)))).toBe("ok");
      expect(partition.entered).toEqual(["credit|tokens|", "debit|all|"]);
      expect(partition.wallet.balance).toBe(0);
    },
  );

  /** Written at first; from its second look on it would be refused. */
  function changingItsMind(): PartitionOperation<string> {
    let looks = 0;
    return {
      id: "fickle",
      rowKeys: ["A"],
      decide({ row }) {
        looks += 1;
        if (row("A") !== undefined) return { kind: "done", answer: "done" };
        if (looks > 1)
          return { kind: "refuse", error: new AppError("insufficient_tokens", "none") };
        return {
          kind: "write",
          writes: [{ kind: "create", row: { rowKey: "A" } }],
          answer: "written",
        };
      },
    };
  }

  test("an operation that may still be applied is answered 503, never refused", async () => {
    const { partition, instance } = start(faults(undefined, "late"));
    await afterAll(credit(instance, "tokens", 10));
    const asked = codeOf(instance.commit.submit(changingItsMind()));
    expect(await afterAll(asked)).toBe("service_unavailable");
    expect(partition.rows.has("A")).toBe(true);
  });

  test("an operation that can't be applied any more is refused", async () => {
    const partition = new MemoryPartition();
    const other = instanceOf(partition, CALM);
    const fault = faults(undefined, "late");
    const instance = instanceOf(partition, fault);
    await afterAll(credit(instance, "tokens", 10));
    let sent = 0;
    const commit = new GroupCommit({
      ...instance.partition,
      async transact(writes) {
        sent += 1;
        const result = await instance.partition.transact(writes);
        // Somebody else changes the wallet before anything is read again: the lost write's condition is gone.
        if (sent === 1) await charge(other, "other", 1);
        return result;
      },
    });
    expect(await afterAll(codeOf(commit.submit(changingItsMind())))).toBe("insufficient_tokens");
    expect(partition.rows.has("A")).toBe(false);
  });

  test("a storage that never confirms makes nobody wait for ever", async () => {
    const { partition, instance } = start({ ...CALM, transactionFault: () => "error_before" });
    const asked = Promise.all(
      Array.from({ length: 5 }, (_, index) => codeOf(credit(instance, `${index}`, 1))),
    );
    expect(await afterAll(asked)).toEqual(Array.from({ length: 5 }, () => "service_unavailable"));
    expect(partition.sizes.length).toBeLessThanOrEqual(24);
    expect(instance.commit.idle).toBe(true);
  });
});

describe("a refusal", () => {
  test("a refusal is never told on a wallet that is older than the request", async () => {
    const partition = new MemoryPartition();
    const first = instanceOf(partition, CALM);
    const other = instanceOf(partition, CALM);
    await credit(first, "little", 1);
    await credit(other, "much", 100);
    expect(await codeOf(charge(first, "all of it", 101))).toBe("ok");
  });

  test("costs one more look at the head and the rows, not more", async () => {
    const { instance } = start();
    const looks = { head: 0, rows: 0 };
    const commit = new GroupCommit({
      ...instance.partition,
      readHead() {
        looks.head += 1;
        return instance.partition.readHead();
      },
      find(rowKey) {
        looks.rows += 1;
        return instance.partition.find(rowKey);
      },
    });
    const watched = through(instance.partition, commit);
    await credit(watched, "little", 1);
    Object.assign(looks, { head: 0, rows: 0 });
    expect(await codeOf(charge(watched, "too much", 2))).toBe("insufficient_tokens");
    expect(looks).toEqual({ head: 1, rows: 2 });
  });

  test("reaches the first to ask although others keep asking for the same", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const { instance } = start({ ...CALM, delay: () => 50 });
    const ask = () => codeOf(charge(instance, "same", 5));
    const first = { isAnswered: false, asked: ask() };
    void first.asked.then(() => (first.isAnswered = true));
    const rest: Promise<string>[] = [];
    for (let ms = 0; ms < 15_000; ms += 40) {
      await vi.advanceTimersByTimeAsync(40);
      if (first.isAnswered) break;
      rest.push(ask());
    }
    expect(first.isAnswered).toBe(true);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(new Set([await first.asked, ...(await Promise.all(rest))])).toEqual(
      new Set(["insufficient_tokens"]),
    );
  });

  test("a refusal is never told on rows that were known before: what another process accepted is a replay", async () => {
    const partition = new MemoryPartition();
    const first = instanceOf(partition, CALM);
    const other = instanceOf(partition, CALM);
    await credit(other, "enough for one", 20);
    const mine = acceptanceOf("key");
    const theirs = acceptanceOf("key");
    await other.commit.submit(theirs.operation);
    const { result: answer } = await first.commit.submit(mine.operation);
    expect(answer.postId).toBe(theirs.post.id);
  });

  test("a refusal is never told on rows that can't be with the head, however long it was in doubt", async () => {
    const { instance } = start(faults("error_before", "error_before", "error_before"));
    let tries = 0;
    const operation: PartitionOperation<string> = {
      id: "settle",
      rowKeys: ["leg"],
      known: new Map([["leg", { row: { rowKey: "leg" }, etag: "as it was" }]]),
      decide(view) {
        if (view.row("leg") === undefined) return { kind: "done", answer: "settled by another" };
        tries += 1;
        if (tries > 3) throw new Error("invariant broken: reserved went negative");
        const writes = [{ kind: "create", row: { rowKey: "entry" } }] as const;
        return { kind: "write", writes, answer: "settled" };
      },
    };
    expect(await instance.commit.submit(operation)).toBe("settled by another");
    expect(tries).toBe(4);
  });

  test.each([
    [5, "ok"],
    // Told to the first, who waits no longer for the sake of others.
    [10_000, "insufficient_tokens"],
  ])("no refusal is told %i ms after the wallet was read", async (ms, toldFirst) => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const partition = new MemoryPartition();
    const other = instanceOf(partition, CALM);
    const first = instanceOf(partition, CALM);
    const reading = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const commit = new GroupCommit({
      ...first.partition,
      async find(rowKey) {
        reading.resolve();
        await goOn.promise;
        return await first.partition.find(rowKey);
      },
    });
    const joined = through(first.partition, commit);
    const early = codeOf(charge(joined, "same", 5));
    await reading.promise;
    await credit(other, "tokens", 5);
    vi.advanceTimersByTime(ms);
    const late = codeOf(charge(joined, "same", 5));
    goOn.resolve();
    expect(await Promise.all([early, late])).toEqual([toldFirst, "ok"]);
    expect(partition.wallet.balance).toBe(0);
  });
});

describe("what goes wrong with one operation", () => {
  const write = (id: string, rows: number): PartitionOperation<string> => ({
    id,
    rowKeys: [],
    decide: () => ({
      kind: "write",
      writes: Array.from({ length: rows }, (_, index) => {
        return { kind: "create", row: { rowKey: `${id}|${index}` } } as const;
      }),
      answer: id,
    }),
  });

  test("an operation with more rows than a transaction holds fails alone", async () => {
    const { instance } = start();
    const outcomes = await Promise.all(
      [write("busy", 1), write("before", 1), write("huge", 98), write("after", 1)].map(
        (operation) => codeOf(instance.commit.submit(operation)),
      ),
    );
    expect(outcomes).toEqual([
      "ok",
      "ok",
      expect.stringContaining("larger than a transaction"),
      "ok",
    ]);
  });

  test("an operation that breaks a rule fails alone", async () => {
    const { instance } = start();
    const broken: PartitionOperation<string> = {
      id: "broken",
      rowKeys: [],
      decide: () => {
        throw new Error("a post lost rows");
      },
    };
    const outcomes = await Promise.all(
      [write("busy", 1), write("before", 1), broken, write("after", 1)].map((operation) =>
        codeOf(instance.commit.submit(operation)),
      ),
    );
    expect(outcomes).toEqual(["ok", "ok", "Error: a post lost rows", "ok"]);
  });

  test("an operation whose rows can't be read fails alone", async () => {
    const { instance } = start();
    const commit = new GroupCommit({
      ...instance.partition,
      async find(rowKey) {
        if (rowKey === markerKey("charge unlucky")) throw serviceUnavailable();
        return await instance.partition.find(rowKey);
      },
    });
    const unlucky = through(instance.partition, commit);
    await credit(unlucky, "tokens", 10);
    const outcomes = await Promise.all([
      codeOf(charge(unlucky, "unlucky", 1)),
      codeOf(charge(unlucky, "lucky", 1)),
    ]);
    expect(outcomes).toEqual(["service_unavailable", "ok"]);
  });

  /** A storage that takes no row of this name; `names` says whether it tells which row it was. */
  const choosy = (instance: Instance, names: boolean) => {
    const sent: number[] = [];
    const commit = new GroupCommit({
      ...instance.partition,
      async transact(writes) {
        sent.push(writes.length);
        const at = writes.findIndex((one) => keyOfWrite(one).startsWith("bad|"));
        if (at !== -1) throw new InvalidTransaction(names ? at : undefined, new Error("400"));
        return await instance.partition.transact(writes);
      },
    });
    return { commit, sent };
  };

  test.each([
    [true, 4],
    [false, 5],
  ])("reaches nobody else: a row that storage never takes, named: %s", async (names, sendings) => {
    const { partition, instance } = start();
    const { commit, sent } = choosy(instance, names);
    const ids = ["busy", "one", "bad", "two"];
    const outcomes = await Promise.all(
      ids.map((id) => codeOf(commit.submit(write(id, id === "busy" ? 1 : 20)))),
    );
    expect(outcomes).toEqual(["ok", "ok", expect.stringContaining("storage accepts no"), "ok"]);
    expect(partition.rowsOf("bad|")).toEqual([]);
    expect(partition.rowsOf("two|")).toHaveLength(20);
    expect(sent).toHaveLength(sendings);
  });

  test("leaves the others' transaction when its key is taken, and reads alone", async () => {
    const { partition, instance } = start();
    const other = instanceOf(partition, CALM);
    await credit(other, "tokens", 1_000);
    const theirs = acceptanceOf("repeated");
    await other.commit.submit(theirs.operation);
    const looks: string[] = [];
    const commit = new GroupCommit({
      ...instance.partition,
      find(rowKey) {
        looks.push(rowKey);
        return instance.partition.find(rowKey);
      },
    });
    await commit.submit(acceptanceOf("first").operation);
    partition.sizes.length = 0;
    const keys = ["busy", "a", "repeated", "b", "c"];
    const answers = await Promise.all(
      keys.map((key) => commit.submit(acceptanceOf(key).operation)),
    );
    expect(answers[2]?.result.postId).toBe(theirs.post.id);
    // Five refused, then four at once; the fifth finds its key.
    expect(partition.sizes).toHaveLength(2);
    expect(looks).toHaveLength(1);
    // Remembered: a later repeat reads, and refuses nobody's transaction.
    partition.sizes.length = 0;
    await Promise.all(["busy", "d", "a"].map((key) => commit.submit(acceptanceOf(key).operation)));
    expect(partition.sizes).toHaveLength(1);
  });
});

describe("several processes that never rest", () => {
  const CUSTOMERS = 24;
  const ALL_CUSTOMERS = 64;
  const LOAD_MS = 40_000;

  /** As many requests at a time as a busy deployment has on one wallet, for so long. */
  async function load(processes: number, forMs: number) {
    const partition = new MemoryPartition();
    const weather = { ...CALM, delay: () => 2 + Math.floor(Math.random() * 3) };
    const instances = Array.from({ length: processes }, () => instanceOf(partition, weather));
    const counts = new Map<string, number>();
    const until = performance.now() + forMs;
    const customer = async (instance: Instance, name: string) => {
      for (let count = 0; performance.now() < until; count += 1) {
        const outcome = await codeOf(credit(instance, `${name} ${count}`, 1));
        counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      }
    };
    const all = instances.flatMap((instance, index) =>
      Array.from({ length: CUSTOMERS }, (_, one) => customer(instance, `${index} ${one}`)),
    );
    await vi.advanceTimersByTimeAsync(forMs + 10_000);
    await Promise.all(all);
    return { counts, sent: partition.sizes.length };
  }

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  });

  test.each(casesOf([8, 1, 2, 4]))("%i of them: nobody is told to come back", async (processes) => {
    const { counts } = await load(processes, 6_000);
    expect([...counts.keys()]).toEqual(["ok"]);
  });

  /** Storage that does one thing after the other, as the emulator does: what one process sends delays all others. */
  function oneCore(
    inner: PartitionAccess,
    core: { busy: Promise<unknown> },
    slowness: number,
  ): PartitionAccess {
    const inTurn = <T>(ms: number, call: () => Promise<T>): Promise<T> => {
      const answer = core.busy.then(async () => {
        const answered = await call();
        await new Promise((resolve) => setTimeout(resolve, slowness * ms));
        return answered;
      });
      core.busy = answer.catch(() => undefined);
      return answer;
    };
    return {
      ...inner,
      readHead: () => inTurn(1, () => inner.readHead()),
      find: (rowKey) => inTurn(1, () => inner.find(rowKey)),
      transact: (writes) => inTurn(4 + writes.length / 2, () => inner.transact(writes)),
    };
  }

  /** Returns how much the same customers get done, whose calls go to one process after the other. */
  async function spread(processes: number, slowness: number) {
    const [partition, core] = [new MemoryPartition(), { busy: Promise.resolve() }];
    const instances = Array.from({ length: processes }, () => {
      const instance = instanceOf(partition, CALM);
      const commit = new GroupCommit(oneCore(instance.partition, core, slowness));
      return through(instance.partition, commit);
    });
    const until = performance.now() + LOAD_MS;
    let [calls, answered] = [0, 0];
    const customer = async (name: string) => {
      for (let count = 0; performance.now() < until; count += 1) {
        const instance = instances[(calls += 1) % processes];
        if (
          instance !== undefined &&
          (await codeOf(credit(instance, `${name} ${count}`, 1))) === "ok"
        )
          answered += 1;
      }
    };
    const customers = Array.from({ length: ALL_CUSTOMERS }, (_, index) => customer(`${index}`));
    await vi.advanceTimersByTimeAsync(LOAD_MS + 10_000);
    await Promise.all(customers);
    return answered;
  }

  test.each([
    { processes: 4, slowness: 1, share: 0.8 },
    { processes: 8, slowness: 10, share: 0.5 },
  ])(
    "$processes on busy storage, $slowness times as slow, do $share of what one does, and more",
    async ({ processes, slowness, share }) => {
      const [alone, together] = [await spread(1, slowness), await spread(processes, slowness)];
      expect(together).toBeGreaterThan(share * alone);
    },
  );
});
