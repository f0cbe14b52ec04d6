import { expect, test } from "vitest";
import { createNetworkTools } from "../../../src/shared/connections/network-tools.ts";
import type { LinkOutcome } from "../../../src/shared/networks/contract/link.ts";
import { casesOf, IS_LONG } from "../../setup/long-check.ts";
import { allow, signIn } from "../../setup/sign-in.ts";
import type { NetworkContract } from "./contracts.ts";
import { expectTruth, runLeg, type Form } from "./leg-run.ts";
import { DAY_MS, expectWholeLedger, stepsOf, TIMEOUT_MS, type LegStep } from "./steps.ts";
import type { World } from "./world.ts";
import { wronged, WRONGS } from "./wrong-values.ts";
import { forFile } from "../../setup/for-file.ts";

/** The answer comes from the network that did what was asked, or from somebody who did nothing of it. */
const FROM = ["wrong-answer", "wrong-reply"] as const;

/** What an id must never be taken from. */
const NO_ID = /null|undefined|true|false|object|\p{Cc}/u;

async function expectTruthOf(world: World, form: Form, step: LegStep, fault: string) {
  const where = `${fault} of ${step.name}`;
  world.relay.advance(DAY_MS);
  const run = await runLeg(world, form, { step, fault });
  expectTruth(run, where);
  expect([where, run.leg.networkPostId ?? ""]).toEqual([where, expect.not.stringMatching(NO_ID)]);
}

/** Links an account while the nth answer is of the wrong shape; returns how many calls there were. */
async function linkWrong(
  { relay, network }: World,
  as: Form["as"],
  wrong: { readonly way: string; readonly nth: number },
): Promise<{ readonly outcome: LinkOutcome; readonly calls: number }> {
  const { services } = relay;
  const tools = createNetworkTools(services.connections, network);
  let calls = 0;
  const outcome = await signIn(network, as ?? {}, {
    tools: {
      ...tools,
      async http(request) {
        calls += 1;
        const isAsked = calls === wrong.nth;
        const answer = await tools.http(request);
        return isAsked && answer.status < 300 ? wronged(answer, wrong.way) : answer;
      },
    },
    decide: (page) => allow(services.connections.outbound.browserUrl(page)),
  });
  return { outcome, calls };
}

/** What a network answers in the wrong types, or with an error that its status hides: nothing is taken for a yes. */
export function describeWrongAnswers(contract: NetworkContract, start: () => Promise<World>): void {
  const world = forFile(() => start());

  const forms = casesOf(Object.entries(contract.forms));

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

  const ways = new Map(Object.values(contract.forms).map(({ as }) => [JSON.stringify(as), as]));
  test.each(casesOf([...ways.values()]))(
    "an account is linked as itself or not at all, whichever answer is of the wrong shape: %j",
    { timeout: TIMEOUT_MS },
    async (as) => {
      const idOf = ({ outcome }: { readonly outcome: LinkOutcome }) =>
        outcome.kind === "linked" ? outcome.linked.account.id : undefined;
      const own = idOf(await linkWrong(world, as, { way: "", nth: 0 }));
      expect(own).toBeDefined();
      for (const way of casesOf(WRONGS, 3))
        for (let nth = 1, all = 1; nth <= all; nth += 1) {
          const linked = await linkWrong(world, as, { way, nth });
          all = linked.calls;
          expect([own, undefined], `${way} ${nth}`).toContain(idOf(linked));
        }
    },
  );
}
