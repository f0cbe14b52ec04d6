import { contend, type Contended, type Contention } from "./contending.ts";
import { tableText } from "./report.ts";
import { ratio, saveResults } from "./results.ts";
import { runBench } from "./run.ts";

const INSTANCES = [1, 2, 4, 8];
const SECONDS = 10;
/** Of one instance's rate, by the number of instances. */
const GOALS: Readonly<Record<number, number>> = { 4: 0.8, 8: 0.7 };
/** With one call in ten that repeats a key, of the time without. */
const GOAL_REPEATED = 1.2;
const BUSY = 503;

const verdict = (isMet: boolean) => (isMet ? "met" : "MISSED");

function textOf(contended: Contended): string[] {
  const { answeredPerSecond, requestsPerCall, statuses } = contended;
  const busy = statuses.get(BUSY) ?? 0;
  return [answeredPerSecond.toFixed(0), requestsPerCall.toFixed(2), String(busy)];
}

async function instances(isLimited: boolean) {
  const all: { readonly count: number; readonly contended: Contended }[] = [];
  for (const count of INSTANCES)
    all.push({
      count,
      contended: await contend({ instances: count, isLimited, seconds: SECONDS }),
    });
  const alone = all[0]?.contended.answeredPerSecond ?? 0;
  const rows = all.map(({ count, contended }) => {
    const goal = GOALS[count];
    const ofOne = contended.answeredPerSecond / alone;
    const isMet = ofOne >= (goal ?? 0) && !contended.statuses.has(BUSY);
    const told = goal === undefined ? "" : `${verdict(isMet)} (${goal}, no 503)`;
    return { count, ofOne, row: [String(count), ...textOf(contended), ofOne.toFixed(2), told] };
  });
  const limit = isLimited ? "2,000 entities a second and partition" : "no limit of a partition";
  const head = ["instances", "answered/s", "requests/call", "503", "of one", ""];
  console.log(`\n${limit}\n${tableText([head, ...rows.map(({ row }) => row)])}`);
  return Object.fromEntries(rows.map(({ count, ofOne }) => [`${count} instances`, ratio(ofOne)]));
}

async function repeated() {
  const one: Contention = { instances: 1, isLimited: false, seconds: SECONDS };
  const [none, tenth] = [await contend(one), await contend({ ...one, repeated: 0.1 })];
  const times = none.answeredPerSecond / tenth.answeredPerSecond;
  const told = verdict(times <= GOAL_REPEATED);
  console.log(
    `\none call in ten repeats a key: ${times.toFixed(2)} × the time, at most ${GOAL_REPEATED}: ${told}`,
  );
  return ratio(times);
}

runBench(async () => {
  await saveResults("contention", {
    unlimited: await instances(false),
    limited: await instances(true),
    timesWithRepeatedKeys: await repeated(),
  });
});
