import type { OperatorScope } from "../../src/shared/callers/scope.ts";
import { redriveDead } from "../../src/shared/webhooks/deliveries/redrive.ts";
import { ratesOf } from "../model/weather.ts";
import { reconcileWallets } from "../setup/walks.ts";
import type { Simulation } from "./simulation.ts";

const OPERATOR: OperatorScope = {
  requestId: "simulation",
  ip: "",
  caller: { kind: "operator", subject: "simulation", roles: ["Admin"] },
};
const PATIENCE_MS = 5_000;
const CALLS_MAX = 60;
const ROUNDS_MAX = 5;
const REDRIVING_MS_MAX = 600_000;
const DAY_MS = 24 * 60 * 60_000;
/** Longer than anything is kept that is not kept for good. */
const LATER_MS = 95 * DAY_MS;
const MINUTE_MS = 60_000;
const WALKS_MS_MAX = 40 * MINUTE_MS;

const isAnyDead = ({ world }: Simulation) => !world.model.rows("dead").next().done;

/** An operator redrives what is dead once the receivers are up, call after call, in weather of its own. */
export async function redriveAll(simulation: Simulation): Promise<void> {
  const { world, hosts, customers } = simulation;
  const { nature } = world;
  const { time, random, counts } = nature;
  if (!isAnyDead(simulation)) return;
  await time.pass(world.networks.receiversDownUntil);
  nature.rates = ratesOf(random, true);
  hosts.excite();
  let isOver = false;
  const redrive = async () => {
    let cursor: string | undefined;
    for (let calls = 0; calls < CALLS_MAX; calls += 1) {
      const answer = await customers.requests.ask("a redrive", "", ({ services }) =>
        redriveDead(services, OPERATOR, { cursor }),
      );
      if ("value" in answer) {
        counts.redrives += answer.value.requeued;
        cursor = answer.value.nextCursor ?? undefined;
        if (cursor === undefined && !isAnyDead(simulation)) break;
      }
      await time.wait(PATIENCE_MS);
    }
    isOver = true;
  };
  void redrive();
  await time.pass(time.now + REDRIVING_MS_MAX, () => isOver);
  simulation.calm();
}

/** Rows that are there for no longer than they are promised, with when they were made; the table that they are in. */
function expiring({ world }: Simulation): string[] {
  const { model } = world;
  const rows: string[] = [];
  for (const table of ["due", "duedeliveries"])
    for (const { rowKey, partitionKey } of model.rows(table))
      if (partitionKey !== "watermark") rows.push(`${table} ${rowKey}`);
  for (const { rowKey } of model.rows("events")) rows.push(`events ${rowKey}`);
  for (const { rowKey } of model.rows("deliveries", "D|")) rows.push(`deliveries ${rowKey}`);
  for (const { rowKey } of model.rows("accounts", "t|")) rows.push(`accounts ${rowKey}`);
  for (const { rowKey, properties } of model.rows("core", "O|"))
    if (properties["operation"] !== "billing.credit") rows.push(`core ${rowKey}`);
  return rows;
}

/** Months pass in which nobody asks for anything; what is left then, and what old keys answer. */
export async function monthsLater(simulation: Simulation): Promise<string[]> {
  const { world, customers } = simulation;
  const { time, counts } = world.nature;
  const before = expiring(simulation);
  time.leap(LATER_MS);
  simulation.skipThePast();
  await time.pass(
    time.now + WALKS_MS_MAX,
    () => !expiring(simulation).some((row) => before.includes(row)),
  );
  // Also a check of accounts makes events, which are young.
  const left = expiring(simulation).filter((row) => before.includes(row));
  counts.purged += before.length - left.length;
  const repeated = await customers.repeatKeys();
  await simulation.rest();
  return [...left.map((row) => `${row} was not purged`), ...repeated];
}

/** Every wallet is checked to its last entry, and what is wrong is told. */
export async function reconcileAll(simulation: Simulation): Promise<string[]> {
  const { world, hosts, tenants } = simulation;
  const { time } = world.nature;
  const platformIds = [...new Set(tenants.map(({ scope }) => scope.platformId))];
  const reconcile = async () => {
    let isOver = false;
    const { services } = await hosts.any();
    const round = async () => {
      // Many platforms at once keep their partition busy.
      for (let tries = 0; !isOver && tries < ROUNDS_MAX; tries += 1)
        try {
          await reconcileWallets(services);
          isOver = true;
        } catch (error) {
          hosts.note("reconcile", error);
          await time.wait(PATIENCE_MS);
        }
      isOver = true;
    };
    void round();
    await time.pass(time.now + WALKS_MS_MAX, () => isOver);
  };
  const unchecked = (platformId: string): string[] => {
    const wallet = world.model.find("core", platformId, "W").properties;
    const mark = world.model.find("core", platformId, "R").properties;
    if (mark["result"] === "checked" && mark["sequence"] === wallet["sequence"]) return [];
    return [
      `the wallet of ${platformId} is ${String(mark["result"])} up to ${String(mark["sequence"])} of ${String(wallet["sequence"])}`,
    ];
  };
  await reconcile();
  if (platformIds.flatMap(unchecked).length > 0) {
    // A process that stood still since before the calm may have moved a wallet right now.
    await simulation.rest();
    await reconcile();
  }
  const violations = platformIds.flatMap(unchecked);
  // Somebody's hand in the tables.
  const victim = platformIds.at(-1) ?? "";
  const { properties } = world.model.find("core", victim, "W");
  const balance = Number(properties["balance"]) + 1;
  world.model.transact("core", victim, [
    { kind: "put_merge", rowKey: "W", properties: { balance } },
  ]);
  const heard = hosts.told.length;
  await reconcile();
  const isTold = hosts.told
    .slice(heard)
    .some(
      ({ message, fields }) =>
        message === "wallet does not reconcile" && fields["platformId"] === victim,
    );
  if (!isTold) violations.push(`nobody was told of the wallet of ${victim}`);
  return violations;
}
