import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { onlyOne, readSnapshot } from "../outside/infra/snapshot.ts";

const guide = readFileSync("docs/operate/size.md", "utf8");
const chapter = /^## What idling costs$([\s\S]*?)^## /m.exec(guide)?.[1] ?? "";

interface Day {
  readonly queueRequests: number;
  readonly tableRequests: number;
}
interface Stage extends Day {
  readonly messages: number;
}
const { idleDay, lifeOfPost } = JSON.parse(readFileSync("bench/results.json", "utf8")) as {
  idleDay: Readonly<Record<"small" | "large", Day>>;
  lifeOfPost: Readonly<Record<string, Stage | number>>;
};
const stages = Object.values(lifeOfPost).filter((stage) => typeof stage === "object");
const sum = (of: keyof Stage) => stages.reduce((total, stage) => total + stage[of], 0);

const POSTS = 1_000;
const CALLS_OF_TIMER = 24 * 60;
/** Billed seconds of a function app on Flex Consumption: a call is billed as a second at least. */
const SECONDS_LEAST = 1;

const scaleOf = (name: string) =>
  onlyOne(readSnapshot(name), "Microsoft.Web/sites").properties.functionAppConfig
    .scaleAndConcurrency;
const gigabytes = scaleOf("small").instanceMemoryMB / 1024;
const text = (value: number) => value.toLocaleString("en-US");
const rounded = (value: number) => text(Number(value.toPrecision(2)));

/** Cells of a row of the table behind its first, without those of log lines. */
function cellsOf(name: string): string[] {
  const row = chapter.split("\n").find((line) => line.startsWith(`| ${name} `));
  const [queues = "", tables = "", , gbSeconds = ""] = (row ?? "").split("|").slice(2);
  return [queues, tables, gbSeconds].map((cell) => cell.trim());
}

const idleSeconds = CALLS_OF_TIMER * SECONDS_LEAST * gigabytes;
/** The request, and what each message calls. */
const postSeconds = (1 + sum("messages")) * SECONDS_LEAST * gigabytes;

test("the table of idle costs is what was counted", () => {
  for (const size of ["small", "large"] as const) {
    const { queueRequests, tableRequests } = idleDay[size];
    expect(cellsOf(`\`${size}\`, nothing to do`)).toEqual(
      [queueRequests, tableRequests, idleSeconds].map(rounded),
    );
  }
  const { queueRequests, tableRequests } = idleDay.small;
  expect(cellsOf("`small`, 1,000 posts")).toEqual(
    [
      queueRequests + POSTS * sum("queueRequests"),
      tableRequests + POSTS * sum("tableRequests"),
      idleSeconds + POSTS * postSeconds,
    ].map(rounded),
  );
});

test("its words on GB-seconds are their arithmetic", () => {
  const ready = (scaleOf("large").alwaysReady as readonly { instanceCount: number }[]).reduce(
    (total, { instanceCount }) => total + instanceCount,
    0,
  );
  expect(ready).toBe(6);
  for (const figure of [
    `× 1 s × ${gigabytes} GB = ${text(idleSeconds)} GB-seconds`,
    `: ${postSeconds} GB-seconds.`,
    `30 days without posts use ${text(30 * idleSeconds)} of the 100,000`,
    `${text(ready * 24 * 3_600 * gigabytes)} GB-seconds a day`,
  ])
    expect(chapter).toContain(figure);
});
