import { bounded } from "../setup/bounded.ts";
import type { LegDraft } from "../../src/shared/networks/contract/draft.ts";
import type { Network } from "../../src/shared/networks/contract/network.ts";
import type { Finding, Outcome } from "../../src/shared/networks/contract/outcome.ts";
import type { NetworkTools } from "../../src/shared/networks/contract/tools.ts";
import type { LegToPublish } from "../../src/shared/networks/contract/visible-call.ts";
import type { CallRefusal } from "../../src/shared/publishing/call.ts";
import { CALL_TRAITS } from "../../src/shared/publishing/publish/call-traits.ts";
import { afterRefusal, shownInSeconds } from "../../src/shared/publishing/publish/refusal.ts";

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

/** Returns the call with the network's refusals checked, as a leg makes it: its outcome, and what is found out later. */
export function checkingRefusals({ calls: { publish } }: Network) {
  let stored: CallRefusal | undefined;
  const ageOf = ({ sentAt }: LegToPublish, now: Date) => now.getTime() - (sentAt ?? now).getTime();
  return {
    async perform(leg: LegToPublish, tools: NetworkTools): Promise<Outcome> {
      const outcome = await publish.perform(leg, tools);
      if (outcome.kind === "done" || outcome.kind === "unknown" || outcome.isProof === true)
        return outcome;
      if (publish.canTell?.(leg) === false) return outcome;
      const found = await publish.find(leg, tools);
      if (found.kind === "done") return found;
      const pollAfterSeconds = shownInSeconds(found, ageOf(leg, tools.now()));
      if (pollAfterSeconds === undefined) return outcome;
      const { kind, failure: said } = outcome;
      const at = tools.now().toISOString();
      stored = { kind, failure: bounded(said), at, isRepeat: !leg.isUnpublished, remote: null };
      const failure = { ...said, code: "outcome_unknown" } as const;
      return { kind: "unknown", failure, pollAfterSeconds };
    },
    async find(leg: LegToPublish, tools: NetworkTools): Promise<Finding> {
      const found = await publish.find(leg, tools);
      if (stored === undefined) return found;
      const { repeatsUntold } = CALL_TRAITS.publish;
      return afterRefusal(stored, found, { ageMs: ageOf(leg, tools.now()), repeatsUntold });
    },
  };
}
