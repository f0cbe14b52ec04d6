import { postStatus } from "../../../src/shared/publishing/leg.ts";
import { toLeg } from "../../../src/shared/publishing/post-row.ts";
import { postKey } from "../../../src/shared/publishing/post-store.ts";
import type { Simulation, Submission } from "./group-commit-simulation.ts";
import type { Entered, MemoryPartition } from "./memory-partition.ts";

/** Of the 100 that storage takes, as many as the group commit fills. */
const ROWS_MAX = 90;
const MOVES_BALANCE: ReadonlySet<unknown> = new Set(["credit", "debit", "settle"]);

/** Sums, chain and numbers of the ledger as it is stored at the end, against wallet and legs. */
function moneyViolations(partition: MemoryPartition): string[] {
  const violations: string[] = [];
  const ledger = partition.ledger();
  const { balance, reserved, sequence } = partition.wallet;
  const moved = ledger.filter(({ type }) => MOVES_BALANCE.has(type));
  const sum = moved.reduce((total, { tokens }) => total + Number(tokens), 0);
  if (sum !== balance) violations.push(`the ledger's sum is ${sum}, the balance ${balance}`);
  if (ledger.some((entry, index) => entry["sequence"] !== index + 1) || ledger.length !== sequence)
    violations.push("the ledger has a gap");
  const held = partition
    .rowsOf("P|")
    .filter((row) => row["holdState"] === "open")
    .reduce((total, row) => total + Number(row["holdTokens"]), 0);
  if (held !== reserved) violations.push(`open holds are ${held}, reserved is ${reserved}`);
  for (const { reserved: then, balance: owned, label } of partition.entered)
    if (then < 0 || then > owned) violations.push(`${label} left ${then} reserved of ${owned}`);
  return violations;
}

function onceViolations({ entered }: MemoryPartition): string[] {
  const counts = new Map<string, number>();
  for (const { label } of entered) counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts].flatMap(([label, count]) =>
    count > 1 ? [`${label} was applied ${count} times`] : [],
  );
}

/** Whether at some moment of the request it was not applied and the tokens were missing. */
function wasShort(entered: readonly Entered[], submission: Submission): boolean {
  const { label, tokens, submittedAt, answeredAt } = submission;
  const states = [{ label: "", balance: 0, reserved: 0, at: 0 }, ...entered];
  for (const [index, { balance, reserved, at }] of states.entries()) {
    if (states[index]?.label === label || at > answeredAt) return false;
    const until = states[index + 1]?.at ?? Infinity;
    if (until >= submittedAt && balance - reserved < tokens) return true;
  }
  return false;
}

function answerViolations(entered: readonly Entered[], submission: Submission): string[] {
  const { label, instance, outcome, submittedAt, answeredAt } = submission;
  const what = `${label} at ${instance}`;
  const entry = entered.find((one) => one.label === label);
  switch (outcome) {
    case "ok":
      return entry !== undefined && entry.at < answeredAt
        ? []
        : [`${what} was answered ok without being applied`];
    case "insufficient_tokens": {
      const violations: string[] = [];
      const isOwn =
        entry?.instance === instance && entry.sentAt > submittedAt && entry.sentAt < answeredAt;
      if (isOwn) violations.push(`${what} was refused and applied`);
      if (!wasShort(entered, submission)) violations.push(`${what} was refused without a reason`);
      return violations;
    }
    case "service_unavailable":
      return [];
    default:
      return [`${what} ended as ${outcome}`];
  }
}

function eventsOf(partition: MemoryPartition, postId: string) {
  return partition
    .rowsOf("E|")
    .filter((row) => row["postId"] === postId)
    .sort((left, right) => Number(left["sequence"]) - Number(right["sequence"]));
}

/** A post ends with its last leg, its work row with it, and is told to have ended once. */
function postViolations({ partition, posts }: Simulation): string[] {
  return [...posts].flatMap(([key, { profileId, id: postId }]) => {
    const stored = partition.rows.get(postKey({ profileId, postId }))?.row;
    if (stored === undefined) return [`the post of ${key} is gone`];
    const legs = partition.rowsOf(`${stored.rowKey}|`).map((row) => toLeg(row));
    const wanted = postStatus(legs);
    const violations: string[] = [];
    if (stored["status"] !== wanted)
      violations.push(`the post of ${key} is ${String(stored["status"])}, not ${wanted}`);
    const events = eventsOf(partition, postId);
    const ended = wanted === "processing" ? [] : [`post.${wanted}`];
    const told = events.filter(({ type }) => String(type).startsWith("post."));
    if (told.map(({ type }) => type).join() !== ["post.processing", ...ended].join())
      violations.push(`the events of ${key} are wrong`);
    if (events.some(({ sequence }, index) => sequence !== index + 1))
      violations.push(`the events of ${key} have a gap`);
    if (partition.rows.has(`X|${postId}`) !== (wanted === "processing"))
      violations.push(`the work row of ${key} is wrong`);
    return violations;
  });
}

/** What a run broke of the rules; nothing when all held. */
export function violationsOf(simulation: Simulation): string[] {
  const { partition, submissions } = simulation;
  return [
    ...moneyViolations(partition),
    ...onceViolations(partition),
    ...submissions.flatMap((submission) => answerViolations(partition.entered, submission)),
    ...postViolations(simulation),
    ...partition.sizes.flatMap((rows) =>
      rows > ROWS_MAX ? [`${rows} rows in a transaction`] : [],
    ),
  ];
}
