import { describe, expect, test } from "vitest";
import type { NetworkContract } from "./contracts.ts";
import { expectTruth, runLeg, type Form, type LegRun } from "./leg-run.ts";
import {
  expectWholeLedger,
  isFirst,
  sendingStep,
  TIMEOUT_MS,
  troubledSteps,
  type LegStep,
} from "./steps.ts";
import type { World } from "./world.ts";
import { forFile } from "../../setup/for-file.ts";

const HOUR_MS = 3_600_000;
const APART_MS = 11 * 60_000;

/** Refusals that end a leg wherever they come before it is out. `retryAvailable`: of the leg as it is, right away. */
const FINAL = [
  ["the token is revoked", "connection_needs_reauth", false],
  ["a permission is missing", "permission_missing", false],
  ["the quota is used up", "quota_exceeded", true],
] as const;

const BREAKS_CONNECTION: ReadonlySet<string> = new Set([
  "connection_needs_reauth",
  "permission_missing",
]);

const endOf = ({ leg }: LegRun) => leg.error?.code ?? leg.status;

async function connectionStatus(world: World, form: Form): Promise<string | undefined> {
  const { owner } = world.lastPublisher(form.as);
  const { connections } = world.relay.services.connections.stores;
  return (await connections.find({ ...owner, network: world.network }))?.status;
}

/** Whether a leg is published for all that this step is refused. */
function isHarmless(contract: NetworkContract, form: Form, { route }: LegStep, code: string) {
  const isRenewed = code === "connection_needs_reauth" && form.isRenewable === true;
  return isRenewed || contract.dispensable?.[code]?.includes(route) === true;
}

/** A network that goes on working after the visible call may never get to say what became of it. */
const openEnds = (form: Form) => (form.sendsBy === undefined ? [] : ["outcome_unknown"]);

/** The form with a magic word where its stand-in reads it. */
function withMagic(form: Form, word: string): Form {
  if (form.magic !== "altTexts") return { ...form, words: word };
  const altTexts = (form.body?.mediaUrls ?? []).map((_, index) => `${word} ${index}`);
  return { ...form, body: { ...form.body, altTexts } };
}

/** Calls again what was refused, no earlier than asked for; or never again, where the leg can do without. */
function expectPatience(run: LegRun, step: LegStep, seconds: number): void {
  const at = run.made.findIndex(({ route, nth }) => route === step.route && nth === step.nth);
  const refused = run.made[at];
  const next = run.made.slice(at + 1).find(({ route }) => route === step.route);
  if (refused === undefined) throw new Error("the refused call was not made");
  const waitedMs = (next?.at ?? Infinity) - refused.at;
  expect([step.name, waitedMs >= seconds * 1000, waitedMs]).toEqual([step.name, true, waitedMs]);
}

/** What a network refuses, and when: a leg ends as the network means it, and is never paid for. */
export function describeRefusals(contract: NetworkContract, start: () => Promise<World>): void {
  const world = forFile(() => start());

  describe.each(Object.entries(contract.forms))("%s", (name, form) => {
    const few = isFirst(contract, name) ? Infinity : 1;
    const hasMedia = form.magic !== undefined && form.body?.mediaUrls !== undefined;

    test(
      "a post is out once for any call that is throttled, and the network is left alone as long as it asks",
      { timeout: TIMEOUT_MS },
      async () => {
        for (const step of await troubledSteps(world, form, "rate_limited", few > 1)) {
          const run = await runLeg(world, form, { step, fault: "fail:rate_limited" });
          expectTruth(run, `throttled at ${step.name}`);
          expect([step.name, endOf(run)]).toEqual([step.name, "succeeded"]);
          expectPatience(run, step, contract.retryAfterSeconds);
        }
        await expectWholeLedger(world);
      },
    );

    test.each(FINAL.slice(0, few))(
      "fails unpaid where %s on the way, and is out where it already was",
      { timeout: TIMEOUT_MS },
      async (_what, code, retryAvailable) => {
        for (const step of await troubledSteps(world, form, code)) {
          // Many accounts that are refused within minutes would be the app's fault.
          world.relay.advance(APART_MS);
          const run = await runLeg(world, form, { step, fault: `fail:${code}` });
          const where = `${code} at ${step.name}`;
          expectTruth(run, where);
          const isOut = step.place === "after" || isHarmless(contract, form, step, code);
          const ends = isOut ? ["succeeded", ...openEnds(form)] : [code];
          expect([where, ends]).toEqual([where, expect.arrayContaining([endOf(run)])]);
          if (!isOut) {
            expect([where, run.leg.retryAvailable]).toEqual([where, retryAvailable]);
            const status = BREAKS_CONNECTION.has(code) ? "needs_reauth" : "active";
            expect([where, await connectionStatus(world, form)]).toEqual([where, status]);
          }
          world.forgetPublishers();
        }
        await expectWholeLedger(world);
      },
    );

    test.each(["connection_needs_reauth", "content_rejected", "quota_exceeded"].slice(0, few))(
      "a leg never says that nothing was published where the visible call's answer is lost and all else refused (%s)",
      async (code) => {
        const step = await sendingStep(world, form);
        const trouble = { step, fault: "drop-answer", afterwards: `fail:${code}` };
        const run = await runLeg(world, form, trouble);
        expectTruth(run, code);
        expect(["succeeded", "outcome_unknown"]).toContain(endOf(run));
        world.forgetPublishers();
      },
    );

    if (form.isKnownAgain === true)
      test("fails for good where the network has it already as somebody else's post", async () => {
        const step = await sendingStep(world, form);
        const run = await runLeg(world, form, { step, fault: "fail:duplicate_content" });
        expectTruth(run, "duplicate");
        expect([endOf(run), run.leg.retryAvailable]).toEqual(["duplicate_content", false]);
      });

    if (!hasMedia) return;

    test("waits for media that takes its time", async () => {
      const run = await runLeg(world, withMagic(form, `[processing:${form.looks ?? 1}]`));
      expectTruth(run, "slow processing");
      expect(endOf(run)).toBe("succeeded");
    });

    test("fails unpaid where its media can't be processed", async () => {
      const run = await runLeg(world, withMagic(form, "[fail:media_processing_failed]"));
      expectTruth(run, "broken media");
      expect([endOf(run), run.leg.retryAvailable]).toEqual(["media_processing_failed", true]);
    });
  });

  test.each(contract.refusals)(
    "a post that is refused as %s fails unpaid, as that",
    async (code) => {
      const [form = {}] = Object.values(contract.forms);
      world.relay.advance(APART_MS);
      const run = await runLeg(world, form, {
        step: await sendingStep(world, form),
        fault: `fail:${code}`,
      });
      expectTruth(run, code);
      expect(endOf(run)).toBe(code);
      world.forgetPublishers();
    },
  );

  test.each(Object.entries(contract.lifetimes))(
    "a token that is %s days old ends a leg as it should",
    async (days, end) => {
      const [form = {}] = Object.values(contract.forms);
      await world.publisher(form.as);
      world.relay.advance(Number(days) * 24 * HOUR_MS);
      const run = await runLeg(world, form, undefined, world.lastPublisher(form.as));
      expectTruth(run, `after ${days} days`);
      expect(endOf(run)).toBe(end);
    },
  );
}
