import { afterAll, beforeAll, expect, test } from "vitest";
import { casesOf, IS_LONG } from "../../setup/long-check.ts";
import type { NetworkContract } from "./contracts.ts";
import { expectTruth, runLeg, type Form } from "./leg-run.ts";
import { DAY_MS, expectWholeLedger, isFirst, stepsOf, TIMEOUT_MS, type LegStep } from "./steps.ts";
import type { World } from "./world.ts";
import { WRONGS } from "./wrong-values.ts";

/** The answer comes from the network that did what was asked, or from somebody who did nothing of it. */
const FROM = ["wrong-answer", "wrong-reply"] as const;

/** What an id must never be taken from. */
const NO_ID = /null|undefined|true|false|object/;

async function expectTruthOf(world: World, form: Form, step: LegStep, fault: string) {
  const where = `${fault} of ${step.name}`;
  world.relay.advance(DAY_MS);
  const run = await runLeg(world, form, { step, fault });
  expectTruth(run, where);
  expect([where, run.leg.networkPostId ?? ""]).toEqual([where, expect.not.stringMatching(NO_ID)]);
}

/** What a network answers in the wrong types, or with an error that its status hides: nothing is taken for a yes. */
export function describeWrongAnswers(contract: NetworkContract, start: () => Promise<World>): void {
  let world: World;
  beforeAll(async () => {
    world = await start();
  });
  afterAll(() => world.stop());

  const forms = Object.entries(contract.forms).filter(([name]) => isFirst(contract, name));

  test.each(forms)(
    "a leg of form %s tells the truth, whichever answer is of the wrong shape",
    { timeout: 5 * TIMEOUT_MS },
    async (_, form) => {
      const steps = await stepsOf(world, form);
      const faults = FROM.flatMap((from) => casesOf(WRONGS, 3).map((way) => `${from} ${way}`));
      for (const step of steps.filter(({ place }) => IS_LONG || place === "sending"))
        for (const fault of faults) await expectTruthOf(world, form, step, fault);
      await expectWholeLedger(world);
    },
  );
}
