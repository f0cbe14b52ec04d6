import type { LegDraft } from "../../src/shared/networks/contract/draft.ts";
import type { LegToPublish, Network } from "../../src/shared/networks/contract/network.ts";
import { checkRefusal, countRefusal } from "../../src/shared/networks/contract/refusals.ts";
import type { NetworkTools } from "../../src/shared/networks/contract/tools.ts";

export const files = (...urls: readonly string[]) => urls.map((url) => ({ url, altText: null }));

/** Makes legs of one account; each test says what its draft and its leg have instead of what is usual. */
export function legsOf(
  usual: Pick<LegToPublish, "account" | "credentials"> & Partial<LegToPublish>,
) {
  return (draft: Partial<LegDraft> = {}, overrides: Partial<LegToPublish> = {}): LegToPublish => ({
    key: "leg-1",
    instanceUrl: null,
    limits: {},
    remote: {},
    sentAt: null,
    isUnpublished: (overrides.sentAt ?? usual.sentAt ?? null) === null,
    ...usual,
    draft: { text: "Hello", media: [], options: {}, ...usual.draft, ...draft },
    ...overrides,
  });
}

/** Returns the call and the look-up with the network's refusals checked, as a leg makes them. */
export const checkingRefusals = ({ calls: { publish } }: Network) => ({
  calls: {
    publish: {
      perform: async (leg: LegToPublish, tools: NetworkTools) =>
        checkRefusal(await publish.perform(leg, tools), publish, leg, tools),
      lookUp: async (leg: LegToPublish, tools: NetworkTools) =>
        countRefusal(await publish.lookUp(leg, tools), leg),
    },
  },
});
