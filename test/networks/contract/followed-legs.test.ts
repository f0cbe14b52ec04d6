import { describe, expect, test } from "vitest";
import { networkOf, type NetworkName } from "../../../src/shared/networks/networks.ts";
import { CONTRACTS, type NetworkContract } from "./contracts.ts";
import { expectTruth, removeLeg, runLeg, type Form, type LegRun } from "./leg-run.ts";
import { startSandboxWorld } from "./sandbox-world.ts";
import { DAY_MS, expectWholeLedger, TIMEOUT_MS } from "./steps.ts";
import { forFile } from "../../setup/for-file.ts";

/*
 * The calls that follow a published post, made by the product's own workers: what becomes of the one visible call, and of
 * who makes it. `follow-ups.test.ts` has the same for each form and each answer, without workers.
 */

/** What the call suffers, and whether it had its effect. */
const TROUBLES = [
  ["is lost", "drop-before", false],
  ["had its effect and its answer is lost", "drop-answer", true],
  ["fails with a 5xx before it had an effect", "fail:network_unavailable", false],
  ["fails with a 5xx after it had its effect", "error-after", true],
  ["is refused although it had its effect", "refuse-after:content_rejected", true],
  ["is not made, because its worker is killed", "kill-before", false],
  ["is the last thing that its worker does", "kill-after", true],
  ["waits for a worker that pauses for ten minutes", "stop-before", false],
  ["is answered to a worker that pauses for ten minutes", "stop-after", true],
] as const;

/** The form of a network whose posts are followed. */
const FOLLOWED: Readonly<Record<NetworkName, string>> = {
  facebook: "text",
  instagram: "image",
  linkedin: "text of an organization",
  bluesky: "text",
  mastodon: "text",
};

/** Asks for the permission that comments need. */
const SETTINGS = {
  FACEBOOK_COMMENTS: "true",
  INSTAGRAM_COMMENTS: "true",
  LINKEDIN_COMMENTS: "true",
} as const;

const COMMENT = "The first comment";

describe.each(Object.keys(FOLLOWED) as NetworkName[])("on %s", (network) => {
  const contract: NetworkContract = CONTRACTS[network];
  const form: Form = contract.forms[FOLLOWED[network]] ?? {};
  const { comment, remove } = networkOf(network).calls;
  const world = forFile(() => startSandboxWorld(network, contract, SETTINGS));

  const isThere = ({ visible: [post] }: LegRun) =>
    world.standIn.posts().some(({ id }) => id === post?.id);

  test.skipIf(comment === undefined).each(TROUBLES)(
    "a first comment is there once at most, and told truly, where its call %s",
    { timeout: TIMEOUT_MS },
    async (_, fault, hasEffect) => {
      world.relay.advance(DAY_MS);
      const options = { ...form.body?.options, firstComment: COMMENT };
      const commented = { ...form, body: { ...form.body, options } };
      const run = await runLeg(world, commented, { step: { route: "comment", nth: 1 }, fault });
      expect(world.wire.isTroubled).toBe(true);
      expectTruth(run, fault);
      const comments = run.visible[0]?.comments?.map(({ text }) => text);
      expect(comments).toEqual(hasEffect ? [COMMENT] : []);
      // That a list does not show it proves nothing.
      expect(run.leg).toMatchObject({
        status: "succeeded",
        warnings: hasEffect ? [] : [{ code: "first_comment_unknown" }],
        firstComment: { status: hasEffect ? "succeeded" : "unknown" },
      });
      const end = hasEffect ? "comment.succeeded" : "comment.failed";
      expect(run.told.filter((type) => type.startsWith("comment."))).toEqual([end]);
      await expectWholeLedger(world);
    },
  );

  test.skipIf(remove === undefined).each(TROUBLES)(
    "a removal takes the post down once where its call %s",
    { timeout: TIMEOUT_MS },
    async (_, fault) => {
      world.relay.advance(DAY_MS);
      const run = await runLeg(world, form);
      expect(isThere(run)).toBe(true);
      const route = network === "bluesky" ? "deleteRecord" : "remove";
      const { leg, told } = await removeLeg(world, run, form, { step: { route, nth: 1 }, fault });
      expect(world.wire.isTroubled).toBe(true);
      expect(isThere(run)).toBe(false);
      // A refusal is believed: it ends the removal, and the next one finds the post gone.
      const isRefused = fault.startsWith("refuse-after");
      const end = isRefused ? ["failed", "leg.removal_failed"] : ["removed", "leg.removed"];
      expect(leg).toMatchObject({ status: "succeeded", removal: { status: end[0] } });
      expect(told.filter((type) => /remov/.test(type))).toEqual([end[1]]);
      if (isRefused) {
        const again = await removeLeg(world, run, form);
        expect(again.leg).toMatchObject({ removal: { status: "removed" } });
      }
      await expectWholeLedger(world);
    },
  );
});
