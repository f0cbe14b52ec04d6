import { expect } from "vitest";
import { reconcilePlatform } from "../../../src/shared/background/reconcile-wallet.ts";
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
const DAY_MS = 25 * 3_600_000;

/** The steps of a leg that meets no trouble, checked to be such a one. */
export async function stepsOf(world: World, form: Form): Promise<readonly LegStep[]> {
  world.relay.advance(DAY_MS);
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

/** The one that makes the post visible. */
export async function sendingStep(world: World, form: Form): Promise<LegStep> {
  const step = (await stepsOf(world, form)).find(({ place }) => place === "sending");
  if (step === undefined) throw new Error("nothing makes the post visible");
  return step;
}

/** Wallet, ledger and legs of everything that the suite did agree. */
export async function expectWholeLedger({ relay, application }: World): Promise<void> {
  expect(await reconcilePlatform(relay.services, application.platform.id)).toEqual([]);
}
