import type { OperatorScope } from "../../../src/shared/callers/scope.ts";
import { redriveDead } from "../../../src/shared/webhooks/deliveries/redrive.ts";
import { WALKS } from "../../../src/shared/background/walks.ts";
import { systemScope } from "../../../src/shared/host/worker.ts";
import { ratesOf } from "../weather.ts";
import { reconcileWallets } from "../../setup/walks.ts";
import type { World } from "./hosts.ts";
import type { Observer } from "./observer.ts";
import type { Simulation } from "./simulation.ts";
import { creditTokens } from "./tenants.ts";

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
/** By then walks are over that begin with the one which removes events. */
const OTHER_WALKS_MS = 10 * MINUTE_MS;
const BEGINNING = { counts: {}, lastCounts: {}, failures: 0, isTimeUp: () => false };
const LOST = "an entry that is lost";
const WALKS_MS_MAX = 40 * MINUTE_MS;

/** An operator redrives what is dead once the receivers are up, call after call, in weather of its own. */
export async function redriveAll(simulation: Simulation): Promise<void> {
  const { world, hosts, customers } = simulation;
  const { nature, observer } = world;
  const { time, random, counts } = nature;
  if (!(await observer.isAnyDead())) return;
  await time.pass(world.networks.receiversDownUntil);
  nature.rates = ratesOf(random, true);
  hosts.excite();
  let isOver = false;
  const redrive = async () => {
    let cursor: string | undefined;
    for (let calls = 0; calls < CALLS_MAX; calls += 1) {
      const answer = await customers.requests.ask("a redrive", "", ({ services }) =>
        redriveDead(services.webhooks, OPERATOR, { cursor }),
      );
      if ("value" in answer) {
        counts.redrives += answer.value.requeued;
        cursor = answer.value.nextCursor ?? undefined;
        if (cursor === undefined && !(await observer.isAnyDead())) break;
      }
      await time.wait(PATIENCE_MS);
    }
    isOver = true;
  };
  void redrive();
  await time.pass(time.now + REDRIVING_MS_MAX, () => isOver);
  simulation.calm();
}

/** Returns what customers can list for no longer than it is promised. */
async function expiring({ observer }: World): Promise<string[]> {
  const [events, deliveries] = [await observer.events(), await observer.deliveries()];
  return [
    ...events.map(({ type, id }) => `${type} ${id}`),
    ...deliveries.map(({ id }) => `the delivery ${id}`),
  ];
}

/** Goes through all that the purge looks for. Returns what it still found to remove, by kind. */
async function purgeAgain({ services }: Observer): Promise<string[]> {
  const found: string[] = [];
  for (const walk of WALKS.filter(({ name }) => name.startsWith("purge-"))) {
    const step = walk.begin(services.background, systemScope(services, walk.name));
    let position: unknown;
    do {
      const at = { position, ...BEGINNING };
      const { next, counts } = await step({ ...at, roundAt: services.clock.now() });
      const removed = counts?.["removed"] ?? 0;
      if (removed > 0) found.push(`${walk.name} left ${removed} rows`);
      position = next;
    } while (position !== undefined);
  }
  return found;
}

/** Months pass in which nobody asks for anything; what is left then, and what old keys answer. */
export async function monthsLater(simulation: Simulation): Promise<string[]> {
  const { world, customers } = simulation;
  const { observer } = world;
  const { time, counts } = world.nature;
  const before = await expiring(world);
  time.leap(LATER_MS);
  const until = time.now + WALKS_MS_MAX;
  // A check of accounts makes events, too, which are young.
  const isLeft = async () => (await expiring(world)).filter((one) => before.includes(one));
  for (let left = before; left.length > 0 && time.now < until; left = await isLeft())
    await time.pass(time.now + MINUTE_MS);
  await time.pass(time.now + OTHER_WALKS_MS);
  const left = await isLeft();
  counts.purged += before.length - left.length;
  const unpurged = await purgeAgain(observer);
  const repeated = await customers.repeatKeys();
  await simulation.rest();
  return [...left.map((one) => `${one} was not purged`), ...unpurged, ...repeated];
}

/** Every wallet is checked to its last entry, and what is wrong is told. */
export async function reconcileAll(simulation: Simulation): Promise<string[]> {
  const { world, hosts, tenants } = simulation;
  const { time } = world.nature;
  const platformIds = [...new Set(tenants.map(({ scope }) => scope.platformId))];
  const reconcile = async () => {
    let isOver = false;
    const round = async () => {
      // While time passes: at this moment no process may be alive.
      const { services } = await hosts.any();
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
  const unchecked = async (): Promise<string[]> => {
    const { stores } = world.observer.services.ledger;
    const found: string[] = [];
    for (const id of platformIds) {
      const { sequence } = await stores.ledger.readWallet(id);
      const { mark } = await stores.ledger.findMark(id);
      if (mark.result !== "checked" || mark.sequence !== sequence)
        found.push(`the wallet of ${id} is ${mark.result} up to ${mark.sequence} of ${sequence}`);
    }
    return found;
  };
  await reconcile();
  if ((await unchecked()).length > 0) {
    // A process that paused since before the calm may have moved a wallet right now.
    await simulation.rest();
    await reconcile();
  }
  const violations = await unchecked();
  // Storage loses an entry of a ledger, which alone names the request.
  const victim = platformIds.at(-1) ?? "";
  await creditTokens(world.observer.services, victim, LOST, 1);
  const lost = world.model.lose(({ properties }) => Object.values(properties).includes(LOST));
  if (lost !== 1) violations.push(`${lost} rows of an entry were lost`);
  const heard = hosts.told.length;
  await reconcile();
  const isTold = hosts.told
    .slice(heard)
    .some(
      ({ message, fields }) =>
        message === "wallet does not reconcile" && fields["platformId"] === victim,
    );
  if (!isTold) violations.push(`nobody was told about the wallet of ${victim}`);
  return violations;
}
