import { describe, expect, test } from "vitest";
import type { NetworkContract } from "./contracts.ts";
import { expectTruth, runLeg } from "./leg-run.ts";
import { expectWholeLedger, isFirst, sendingStep, TIMEOUT_MS, troubledSteps } from "./steps.ts";
import type { World } from "./world.ts";
import { forFile } from "../../setup/for-file.ts";

/** Trouble after which a leg still has to be published, in the words of the sandbox. */
const LOSSES = [
  ["whose request is lost", "drop-before"],
  ["that has its effect and whose answer is lost", "drop-answer"],
] as const;
const ERRORS = [
  ["that the network fails before it has an effect", "fail:network_unavailable"],
  ["answered by an HTML error page before it has an effect", "html-502"],
  ["answered by an HTML error page after it had its effect", "error-after"],
  ["before which its worker is killed", "kill-before"],
  ["after which its worker is killed", "kill-after"],
  ["before which its worker pauses for ten minutes", "stop-before"],
  ["after which its worker pauses for ten minutes", "stop-after"],
] as const;

/** Refusals that prove nothing at any of the networks. */
const REFUSALS = ["content_rejected", "invalid_request"] as const;

/** The effects of a network's calls: whatever becomes of one, a leg is out once, paid once, and says so. */
export function describeEffects(contract: NetworkContract, start: () => Promise<World>): void {
  const world = forFile(() => start());
  const [firstForm] = Object.values(contract.forms);

  describe.each(Object.entries(contract.forms))("%s", (name, form) => {
    const isUnknowable = contract.unknowable?.includes(name) === true;

    test.each(isFirst(contract, name) ? [...LOSSES, ...ERRORS] : LOSSES)(
      "a post is out once for any call %s",
      { timeout: TIMEOUT_MS },
      async (_, fault) => {
        const isSent = LOSSES.some(([, loss]) => loss === fault) || form === firstForm;
        for (const step of await troubledSteps(world, form, fault, isSent)) {
          const run = await runLeg(world, form, { step, fault });
          const where = `${fault} at ${step.name}`;
          expectTruth(run, where);
          expect([where, world.wire.isTroubled]).toEqual([where, true]);
          const end = run.leg.error?.code ?? run.leg.status;
          const mayStayOpen = isUnknowable && step.place === "sending";
          expect([where, end]).toEqual([where, mayStayOpen ? end : "succeeded"]);
          expect([where, ["succeeded", "outcome_unknown"]]).toEqual([
            where,
            expect.arrayContaining([end]),
          ]);
        }
        await expectWholeLedger(world);
      },
    );

    test.skipIf(contract.untold?.includes(name))(
      "a post is out once where the visible call is refused although it had its effect",
      { timeout: TIMEOUT_MS },
      async () => {
        const step = await sendingStep(world, form);
        for (const code of isFirst(contract, name) ? REFUSALS : REFUSALS.slice(0, 1)) {
          const run = await runLeg(world, form, { step, fault: `refuse-after:${code}` });
          expectTruth(run, code);
          expect([code, run.leg.error?.code ?? run.leg.status]).toEqual([code, "succeeded"]);
        }
        await expectWholeLedger(world);
      },
    );

    const silences = [
      ["had its effect", "drop-answer"],
      ["was lost", "drop-before"],
    ] as const;
    // Whose media is published later ends otherwise than the first forms.
    const others = silences.slice(0, form.sendsBy === undefined ? 0 : 1);
    test.each(isFirst(contract, name) ? silences : others)(
      "a post stays open only where it may be there, when a call %s",
      { timeout: TIMEOUT_MS },
      async (_, fault) => {
        for (const step of await troubledSteps(world, form, `${fault}, then silence`)) {
          const run = await runLeg(world, form, { step, fault, afterwards: "drop-before" });
          const where = `silence from ${step.name} on`;
          expectTruth(run, where);
          const { error, status, retryAvailable } = run.leg;
          const ends = {
            before: ["network_unavailable", "media_not_ready"],
            sending: ["outcome_unknown"],
            // A network that goes on working after the call has yet to say what became of it.
            after: form.sendsBy === undefined ? ["succeeded"] : ["succeeded", "outcome_unknown"],
          };
          const end = error?.code ?? status;
          expect([where, ends[step.place]]).toEqual([where, expect.arrayContaining([end])]);
          expect([where, retryAvailable]).toEqual([where, status === "failed"]);
        }
        await expectWholeLedger(world);
      },
    );
  });
}
