import { describe, expect, test } from "vitest";
import { dataOf } from "../../setup/factories.ts";
import { pairsOf } from "../../setup/long-check.ts";
import { unique, type Publisher } from "../../setup/publisher.ts";
import type { NetworkContract } from "./contracts.ts";
import { expectTruth, runLeg, settle, submit, type Form } from "./leg-run.ts";
import { DAY_MS, expectWholeLedger, sendingStep, stepsOf, TIMEOUT_MS } from "./steps.ts";
import type { Trouble } from "./wire.ts";
import { publishersOfOneAccount, type World } from "./world.ts";
import { findConnection } from "../../setup/stored.ts";
import { forFile } from "../../setup/for-file.ts";

const POSTS = 20;
const LEFT = 5;
const USED = 3;
const WORKERS = 8;
/** Legs of one account go one after the other: each waits for its turn. */
const ROUNDS_MAX = 200;
const ROUND_MS = 2_000;

/** Many workers at once, until nothing waits any more. */
async function workAtOnce({ relay }: World): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX && relay.queues.length > 0; round += 1) {
    await Promise.all(Array.from({ length: WORKERS }, () => relay.drain()));
    relay.advance(ROUND_MS);
  }
}

/** Submits posts of two profiles in turn, all at once; how each one ended. */
async function publishAtOnce(
  world: World,
  publishers: readonly Publisher[],
  texts: readonly string[],
  form: Form,
): Promise<readonly string[]> {
  const by = (index: number) => publishers[index % publishers.length] ?? publishers[0];
  const submitted = await Promise.all(
    texts.map(async (text, index) => {
      const publisher = by(index);
      if (publisher === undefined) throw new Error("nobody publishes");
      return { publisher, id: dataOf(await submit(world, publisher, text, form)).id as string };
    }),
  );
  await workAtOnce(world);
  const ends: string[] = [];
  for (const { publisher, id } of submitted) {
    await settle(world, publisher, id);
    const [leg] = (await publisher.read(id)).legs;
    ends.push(leg.error?.code ?? leg.status);
  }
  return ends;
}

const countOf = (ends: readonly string[], end: string) => ends.filter((one) => one === end).length;

/** What is used up of a real account, no matter who linked it. */
export function describeAccounts(
  contract: NetworkContract,
  start: (settings: Readonly<Record<string, string>>) => Promise<World>,
): void {
  const { quota } = contract;
  const name = quota?.form ?? Object.keys(contract.forms)[0] ?? "";
  const form = contract.forms[name] ?? {};
  const world = forFile(() =>
    start(quota === undefined ? {} : { [quota.setting]: String(USED + LEFT) }),
  );

  test("takes a text once, of all profiles that send it to the account at once", async () => {
    const publishers = await publishersOfOneAccount(world, form.as ?? {}, 2);
    const text = unique("The same words");
    world.wire.begin();
    const ends = await publishAtOnce(world, publishers, [text, text, text, text], form);
    expect([countOf(ends, "succeeded"), countOf(ends, "duplicate_content")]).toEqual([1, 3]);
    expect(world.wire.visible()).toHaveLength(1);
    await expectWholeLedger(world);
  });

  if (quota === undefined) return;

  const usedBy = async ({ owner }: Publisher): Promise<number> => {
    const { services, clock } = world.relay;
    const connection = await findConnection(services, owner, world.network);
    const account = { network: world.network, accountId: connection?.account.id ?? "" };
    return (
      await services.publishing.stores.networkAccounts.readQuota(account, quota.kind, clock.now())
    ).used;
  };

  test(
    `lets exactly ${LEFT} of ${POSTS} posts of two profiles out at once where the account's quota has ${LEFT} left`,
    { timeout: TIMEOUT_MS },
    async () => {
      world.relay.advance(25 * 3_600_000);
      const publishers = await publishersOfOneAccount(world, form.as ?? {}, 2);
      const texts = (count: number) => Array.from({ length: count }, () => unique("Quota"));
      const before = await publishAtOnce(world, publishers, texts(USED), form);
      expect(countOf(before, "succeeded")).toBe(USED);
      world.wire.begin();
      const ends = await publishAtOnce(world, publishers, texts(POSTS), form);
      expect([countOf(ends, "succeeded"), countOf(ends, "quota_exceeded")]).toEqual([
        LEFT,
        POSTS - LEFT,
      ]);
      expect(world.wire.visible()).toHaveLength(LEFT);
      await expectWholeLedger(world);
    },
  );

  describe("a leg's share of the quota", () => {
    test.each<readonly [string, Omit<Trouble, "step"> & { readonly end?: string }, number]>([
      ["is given back where nothing was published", { fault: "fail:content_rejected" }, 0],
      [
        "is kept where nobody can tell",
        { fault: "drop-answer", afterwards: "drop-before", end: "outcome_unknown" },
        1,
      ],
    ])("a leg's share of the quota: %s", async (_, { end, ...trouble }, share) => {
      const step = await sendingStep(world, form);
      const used = await usedBy(world.lastPublisher(form.as));
      const run = await runLeg(world, form, { step, ...trouble });
      expectTruth(run, trouble.fault);
      expect(run.leg.status).toBe("failed");
      if (end !== undefined) expect(run.leg.error?.code).toBe(end);
      expect((await usedBy(world.lastPublisher(form.as))) - used).toBe(share);
    });

    const counted = Object.entries(contract.forms).filter(
      ([other]) => other === name || other === "reel",
    );
    const troubles = [
      { fault: "fail:content_rejected" },
      { fault: "fail:network_unavailable", afterwards: "fail:network_unavailable" },
    ];
    const cases = pairsOf(counted, troubles).map(
      ([[other, counts], trouble]) => [other, trouble, counts] as const,
    );
    test.each(cases)(
      "a share is given back if a call fails before publishing: %s, %s",
      { timeout: TIMEOUT_MS },
      async (_, trouble, counts) => {
        const ends = new Set<string>();
        for (const step of await stepsOf(world, counts)) {
          // Room in the quota, which counts what was published in the last day.
          world.relay.advance(DAY_MS);
          const used = await usedBy(world.lastPublisher(counts.as));
          const { leg } = await runLeg(world, counts, { step, ...trouble });
          const isOut = leg.status === "succeeded" || leg.error?.code === "outcome_unknown";
          ends.add(isOut ? "kept" : "given back");
          const share = (await usedBy(world.lastPublisher(counts.as))) - used;
          expect([step.name, share]).toEqual([step.name, isOut ? 1 : 0]);
        }
        // What a single call did that failed as a whole is unknown.
        if (trouble.fault === "fail:content_rejected") expect(ends).toContain("given back");
      },
    );
  });
}
