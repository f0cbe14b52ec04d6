import type { Network } from "../../../src/shared/networks/contract/network.ts";
import type { FollowUpCall } from "../../../src/shared/networks/contract/visible-call.ts";
import type { Call } from "../../../src/shared/publishing/call.ts";
import { type Leg, withCall } from "../../../src/shared/publishing/leg.ts";
import { networkOf } from "../../../src/shared/networks/networks.ts";
import { COMMENT, NETWORKS, withComments } from "./comments.ts";
import type { Mutant } from "./mutant.ts";
import { committing, writingLegsOf } from "./mutation.ts";

type Calls = Network["calls"];

/** For the time of a run, networks of the simulation with other calls. */
function withCalls(change: (calls: Calls) => Partial<Calls>): () => void {
  const restore = NETWORKS.map((name) => {
    const network = networkOf(name);
    const { calls } = network;
    Object.assign(network, { calls: { ...calls, ...change(calls) } });
    return () => void Object.assign(network, { calls });
  });
  return () => {
    for (const one of restore) one();
  };
}

const twice =
  (made: FollowUpCall): FollowUpCall["perform"] =>
  async (call, tools) => {
    await made.perform(call, tools);
    return await made.perform(call, tools);
  };

const failedLeg = (leg: Leg): Leg => withCall(leg, { ...leg.calls[0], state: "failed" });

/** Keys of the legs whose comment came with the post. */
const commented = new Set<string>();

const andComment =
  (publish: Calls["publish"]): Calls["publish"]["perform"] =>
  async (leg, tools) => {
    const outcome = await publish.perform(leg, tools);
    const text = leg.draft.options["firstComment"];
    if (outcome.kind !== "done" || typeof text !== "string") return outcome;
    commented.add(leg.key);
    const { key } = leg;
    const { externalId } = outcome;
    await COMMENT.perform(
      { ...leg, key, externalId: externalId ?? "", text, sentAt: null, isRefused: false },
      tools,
    );
    return outcome;
  };

/** The product without a safeguard of the calls that follow a leg's publication. */
export const MUTANTS_OF_CALLS: readonly Mutant[] = [
  {
    name: "R1: a removal that ends a leg",
    firstSeed: 4,
    era: 61,
    followsUp: true,
    services: (services) => committing(services, writingLegsOf("end|remove|", failedLeg)),
  },
  {
    name: "R2: a removal that is performed twice",
    era: 65,
    firstSeed: 7,
    followsUp: true,
    install: () =>
      withCalls(({ remove }) =>
        remove === undefined ? {} : { remove: { ...remove, perform: twice(remove) } },
      ),
  },
  {
    name: "K1: a first comment before its post has ended",
    era: 62,
    firstSeed: 2,
    followsUp: true,
    install() {
      commented.clear();
      return withCalls(({ publish }) => ({
        publish: { ...publish, perform: andComment(publish) },
      }));
    },
    services: (services) =>
      committing(
        services,
        writingLegsOf("end|publish|", ({ calls: [publishing, ...later], ...leg }) => {
          const isCommented = commented.has(publishing.key);
          const after = (call: Call): Call => (isCommented ? { ...call, state: "done" } : call);
          return { ...leg, calls: [publishing, ...later.map(after)] };
        }),
      ),
  },
  {
    name: "K2: a first comment that is sent again without a look-up",
    era: 79,
    isRare: true,
    followsUp: true,
    install: () => withComments({ ...COMMENT, find: () => Promise.resolve({ kind: "absent" }) }),
  },
  {
    name: "K3: a first comment that changes the leg's status",
    era: 64,
    followsUp: true,
    services: (services) => committing(services, writingLegsOf("end|comment|", failedLeg)),
  },
];
