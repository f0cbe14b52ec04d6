import type { Simulation, Submission } from "./group-commit-simulation.ts";
import type { Entered, MemoryPartition } from "./memory-partition.ts";

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

/** Work stands for a post exactly as long as it has an open leg. */
function workViolations({ partition, posts }: Simulation): string[] {
  return [...posts.values()].flatMap(({ id }) => {
    const legs = partition.rowsOf("P|").filter(({ rowKey }) => rowKey.includes(`|${id}|`));
    const isOpen = legs.some(({ holdState }) => holdState === "open");
    return partition.rows.has(`X|${id}`) === isOpen ? [] : [`the work row of ${id} is wrong`];
  });
}

/** What a run broke of the rules; nothing when all held. */
export function violationsOf(simulation: Simulation): string[] {
  const { partition, submissions } = simulation;
  return [
    ...moneyViolations(partition),
    ...onceViolations(partition),
    ...submissions.flatMap((submission) => answerViolations(partition.entered, submission)),
    ...workViolations(simulation),
    ...partition.sizes.flatMap((rows) => (rows > 90 ? [`${rows} rows in a transaction`] : [])),
  ];
}
