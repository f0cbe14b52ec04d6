import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createLog } from "../../../src/shared/runtime/log.ts";
import { Metrics, METRICS } from "../../../src/shared/runtime/telemetry/metrics.ts";
import { inWork } from "../../setup/in-work.ts";

function gathering() {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ level: "info", sink: (_level, line) => lines.push(JSON.parse(line)) });
  return { metrics: new Metrics(log), lines };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("what a process counts", () => {
  test("what a process counts is one line for each series, a minute after its first value", () => {
    const { metrics, lines } = gathering();
    metrics.count("legs.ended", { network: "bluesky", outcome: "published" });
    metrics.count("legs.ended", { network: "bluesky", outcome: "published" });
    metrics.count("legs.ended", { network: "mastodon", outcome: "rate_limited" }, 3);
    vi.advanceTimersByTime(59_999);
    expect(lines).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(lines).toMatchObject([
      {
        message: "metric",
        metric: "legs.ended",
        network: "bluesky",
        outcome: "published",
        count: 2,
      },
      { message: "metric", metric: "legs.ended", network: "mastodon", count: 3 },
    ]);
    expect(lines[0]).not.toHaveProperty("sum");
    vi.advanceTimersByTime(600_000);
    expect(lines).toHaveLength(2);
  });

  test("begins at nothing in each minute", () => {
    const { metrics, lines } = gathering();
    for (let minute = 0; minute < 3; minute += 1) {
      metrics.count("queues.poisoned", { queue: "publishing" });
      vi.advanceTimersByTime(60_000);
    }
    expect(lines.map(({ count }) => count)).toEqual([1, 1, 1]);
    expect(new Set(lines.map(({ process }) => process)).size).toBe(1);
    expect(new Set(lines.map(({ since }) => since)).size).toBe(3);
  });

  test("shows how values are spread, their sum and their ends", () => {
    const { metrics, lines } = gathering();
    for (const value of [1, 1, 2, 3, 65, 1_000])
      metrics.observe("wallet.batch_operations", value, { outcome: "applied" });
    metrics.flush();
    expect(lines).toMatchObject([
      {
        metric: "wallet.batch_operations",
        outcome: "applied",
        count: 6,
        sum: 1_072,
        min: 1,
        max: 1_000,
        ranges: { "<=1": 2, "<=2": 1, "<=4": 1, ">64": 2 },
      },
    ]);
  });

  test("what a process counts is written at the end of the process without waiting for the minute, once", () => {
    const { metrics, lines } = gathering();
    metrics.count("wallets.mismatched", {});
    metrics.flush();
    metrics.flush();
    vi.advanceTimersByTime(120_000);
    expect(lines).toHaveLength(1);
  });

  test("what a process counts is no request's, whichever came first", async () => {
    const { metrics, lines } = gathering();
    await inWork({ parents: [], requestId: "req_1" }, async () => {
      metrics.count("wallets.mismatched", {});
    });
    vi.advanceTimersByTime(60_000);
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toHaveProperty("requestId");
    expect(lines[0]).not.toHaveProperty("traceId");
  });

  test("takes bounded memory whatever its labels are", () => {
    const { metrics, lines } = gathering();
    for (let index = 0; index < 5_000; index += 1)
      metrics.count("queues.poisoned", { queue: `queue-${index}` });
    metrics.flush();
    expect(lines).toHaveLength(201);
    expect(lines.find(({ queue }) => queue === "(other)")).toMatchObject({ count: 4_800 });
  });
});

describe("the table of metrics", () => {
  const read = (path: string) =>
    readFileSync(resolve(import.meta.dirname, "../../..", path), "utf8");
  const chapter = /^## Metrics$([\s\S]*?)^## /m.exec(read("docs/operate/observe.md"))?.[1] ?? "";

  test("the table of metrics is the runbook's, with every label", () => {
    const rows = [...chapter.matchAll(/^\| `([\w.]+)`\s*\|([^|]*)\|/gm)];
    const documented = Object.fromEntries(
      rows.map(([, name = "", labels = ""]) => [
        name,
        [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label),
      ]),
    );
    const known = Object.fromEntries(
      Object.entries(METRICS).map(([name, { labels }]) => [name, [...labels]]),
    );
    expect(documented).toEqual(known);
  });

  test("the table of metrics has every metric that alerts, the workbook and the runbook ask for", () => {
    const queries = ["infra/alerts.json", "infra/workbook.json", "docs/operate/observe.md"]
      .map(read)
      .join();
    const asked = [...queries.matchAll(/line\.metric\)?\s*==\s*\\?"([\w.]+)\\?"/g)].map(
      ([, name = ""]) => name,
    );
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((name) => !(name in METRICS))).toEqual([]);
  });

  test("the table of metrics has no metric that nothing gathers", () => {
    const gatherers = [
      "publishing/accept/create-post",
      "publishing/schedule/start-post",
      "publishing/publish/apply-step",
      "publishing/publish/unmapped-signals",
      "background/reconcile-wallets",
      "ledger/reconcile-wallet",
      "webhooks/deliveries/record-attempt",
      "background/poison",
      "background/run-due-walks",
      "mail/mail-sender",
      "mail/send-mails",
      "compose",
    ];
    const source = gatherers.map((path) => read(`src/shared/${path}.ts`)).join("\n");
    for (const name of Object.keys(METRICS)) expect(source).toContain(`"${name}"`);
  });

  test("the table of metrics has no label that the log would blot out, and ranges in their order", () => {
    for (const metric of Object.values(METRICS)) {
      expect(metric.labels.filter((label) => /code|state|token/.test(label))).toEqual([]);
      const bounds: readonly number[] = "bounds" in metric ? metric.bounds : [];
      expect(bounds).toEqual(bounds.toSorted((left, right) => left - right));
    }
  });
});
