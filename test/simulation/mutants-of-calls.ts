import { createNetworkTools } from "../../src/shared/connections/network-tools.ts";
import { firstCommentOf } from "../../src/shared/publishing/post.ts";
import { COMMENT, withComments } from "./comments.ts";
import type { Mutant } from "./mutant.ts";
import { committing, writingLegs, writingLegsOf } from "./mutation.ts";

/** The product without a safeguard of the calls that follow a leg's publication. */
export const MUTANTS_OF_CALLS: readonly Mutant[] = [
  {
    name: "R1: a removal that ends a leg",
    era: 61,
    followsUp: true,
    services: (services) =>
      committing(
        services,
        writingLegsOf("end|remove|", (leg) => ({ ...leg, status: "failed" })),
      ),
  },
  {
    name: "K1: a first comment before its post is settled",
    era: 62,
    followsUp: true,
    services(services) {
      writingLegs(services, async (leg, { ref, etag, posts }) => {
        const post = await posts.findPost(ref);
        const text = post === undefined ? null : firstCommentOf(post.draft, leg.network);
        const isNext = leg.status === "publishing" && leg.phase === "sent";
        if (text === null || !isNext) return [leg, etag];
        // Safe: the model's comment needs the post's id and the text alone.
        const call = { leg: { externalId: leg.key }, text } as never;
        await COMMENT.perform(call, createNetworkTools(services.connections, leg.network));
        return [leg, etag];
      });
      committing(
        services,
        writingLegsOf("end|publish|", (leg) => ({
          ...leg,
          calls: leg.calls.map((call) => ({ ...call, state: "done" })),
        })),
      );
    },
  },
  {
    name: "K2: a first comment that is sent again without a look-up",
    era: 63,
    firstSeed: 11,
    followsUp: true,
    install: () =>
      withComments({ ...COMMENT, lookUp: () => Promise.resolve({ kind: "may_perform" }) }),
  },
  {
    name: "K3: a first comment that changes the leg's status",
    era: 64,
    followsUp: true,
    services: (services) =>
      committing(
        services,
        writingLegsOf("end|comment|", (leg) => ({ ...leg, status: "failed" })),
      ),
  },
];
