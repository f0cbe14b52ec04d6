import { expect } from "vitest";
import { reconcileWallet } from "../../../src/shared/ledger/reconcile-wallet.ts";
import { casesOf, IS_LONG } from "../../setup/long-check.ts";
import type { NetworkContract } from "./contracts.ts";
import { expectTruth, runLeg, type Form } from "./leg-run.ts";
import type { MadeStep } from "./wire.ts";
import type { World } from "./world.ts";

/** Longest time for one test, which runs a leg for each of its steps. */
export const TIMEOUT_MS = 60_000;

export interface LegStep extends MadeStep {
  readonly name: string;
  /** Before, at or after the one call that makes the post visible. */
  readonly place: "before" | "sending" | "after";
}

/** Quotas of a day are free again: the suite posts more than an account may. */
export const DAY_MS = 25 * 3_600_000;

/** Every form is answered by the same table of errors: outside the long check, a network's first two forms prove it. */
export function isFirst(contract: NetworkContract, name: string): boolean {
  return casesOf(Object.keys(contract.forms), 2).includes(name);
}

const stepsByForm = new WeakMap<World, Map<Form, readonly LegStep[]>>();
const troubledInWorld = new WeakMap<World, Set<string>>();

async function observeSteps(world: World, form: Form): Promise<readonly LegStep[]> {
  const run = await runLeg(world, form);
  expectTruth(run, "without trouble");
  expect(run.leg).toMatchObject({ status: "succeeded", error: null, attempts: 1 });
  const { made } = run;
  const sending = made[form.sendsBy === undefined ? "findIndex" : "findLastIndex"](
    ({ isVisible, route }) => (form.sendsBy === undefined ? isVisible : route === form.sendsBy),
  );
  expect(sending).toBeGreaterThanOrEqual(0);
  return made.map((step, index) => ({
    ...step,
    name: `${step.route} ${step.nth}`,
    place: index < sending ? "before" : index === sending ? "sending" : "after",
  }));
}

/** Returns the steps of a leg that meets no trouble, found out once for each form, and makes room in all quotas. */
export async function stepsOf(world: World, form: Form): Promise<readonly LegStep[]> {
  world.relay.advance(DAY_MS);
  const known = stepsByForm.get(world) ?? new Map<Form, readonly LegStep[]>();
  stepsByForm.set(world, known);
  const steps = known.get(form) ?? (await observeSteps(world, form));
  known.set(form, steps);
  return steps;
}

/**
 * Returns the steps of a form at which the suite brings a trouble: the call that makes the post visible, unless `isSent` is
 * false, and each other call that no form of the network had this trouble at before. The long check takes them all.
 */
export async function troubledSteps(
  world: World,
  form: Form,
  trouble: string,
  isSent = true,
): Promise<readonly LegStep[]> {
  const steps = await stepsOf(world, form);
  if (IS_LONG) return steps;
  const done = troubledInWorld.get(world) ?? new Set<string>();
  troubledInWorld.set(world, done);
  return steps.filter(({ place, route, nth }) => {
    const call = `${trouble} ${place} ${route} ${nth === 1 ? "first" : "again"}`;
    const isNew = !done.has(call);
    done.add(call);
    return isNew || (isSent && place === "sending");
  });
}

/** Returns the one that makes the post visible. */
export async function sendingStep(world: World, form: Form): Promise<LegStep> {
  const step = (await stepsOf(world, form)).find(({ place }) => place === "sending");
  if (step === undefined) throw new Error("nothing makes the post visible");
  return step;
}

/** Checks that wallet, ledger and legs of everything that the suite did agree. */
export async function expectWholeLedger({ relay, application }: World): Promise<void> {
  expect(await reconcileWallet(relay.services.ledger, application.platform.id)).toEqual([]);
}
