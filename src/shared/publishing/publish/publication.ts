import { checkRefusal, countRefusal } from "../../networks/contract/refusals.ts";
import { lastLookSeconds } from "../leg-times.ts";
import { followAccount } from "./attach-account.ts";
import { type CallKind, type CallWork, type Found, type Made, toPublish } from "./call-work.ts";
import { claimFirstQuota, claimOwnText, prepareFiles, returnUnusedQuota } from "./prepare.ts";

/* The call that publishes a leg. */

/**
 * Reports whether the answer of a look-up covers the latest call: there was only one, or enough time has passed for its
 * effect to show.
 */
function coversLatestCall({ run }: CallWork): boolean {
  const { calledAt, sentAt } = run.hand.call;
  return calledAt === sentAt || lastLookSeconds({ calledAt }, run.services.clock.now()) === null;
}

async function findPost(work: CallWork): Promise<Found> {
  const leg = toPublish(work);
  const found = countRefusal(await work.network.calls.publish.lookUp(leg, work.run.tools), leg);
  const isCovered = coversLatestCall(work);
  switch (found.kind) {
    case "may_perform":
      return { ...found, kind: "may_perform", isUncertain: !found.isAbsent || !isCovered };
    case "rejected":
      return { ...found, isUncertain: !isCovered };
    case "done":
    case "ask_again":
    case "unknowable":
      return found;
  }
}

async function perform(work: CallWork): Promise<Made> {
  const { run, network } = work;
  const leg = toPublish(work);
  const { publish } = network.calls;
  const answered = await publish.perform(leg, run.tools);
  const outcome = await checkRefusal(answered, publish, leg, run.tools);
  switch (outcome.kind) {
    case "prepare_again": {
      const { failure, remote: state, pollAfterSeconds: retryAfterSeconds } = outcome;
      await returnUnusedQuota(run, state);
      // The check accepted what the network refused, so our rule differs from the network's.
      if (failure.rule !== undefined)
        run.services.log.warn("network.fact_doubtful", {
          network: network.name,
          fact: failure.rule,
        });
      return { kind: "try_later", failure, state, retryAfterSeconds };
    }
    case "in_doubt": {
      const { remote: state, ...doubt } = outcome;
      return { ...doubt, ...(state && { state }) };
    }
    case "done":
    case "try_later":
    case "rejected":
      return outcome;
  }
}

export const publication: CallKind = {
  attach: ({ run }, linked) => followAccount(run, linked),
  lookUp: findPost,
  prepare: [claimOwnText, claimFirstQuota, prepareFiles],
  perform,
};
