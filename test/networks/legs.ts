import type { LegDraft } from "../../src/shared/networks/contract/draft.ts";
import type { LegToPublish } from "../../src/shared/networks/contract/network.ts";

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
