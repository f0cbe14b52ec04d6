import { askAgain } from "../contract/doubt.ts";
import type { LegToPublish, NetworkTools, ReconcileOutcome } from "../contract/network.ts";
import { lookAtContainer } from "./container.ts";
import { findOwnMedia } from "./own-media.ts";
import { remoteOf } from "./state.ts";

/** What a call set off is done by then, whatever became of its answer. */
const SETTLED_MS = 60_000;

/** The container itself tells whether it was published. */
export async function reconcile(leg: LegToPublish, tools: NetworkTools): Promise<ReconcileOutcome> {
  const { container } = remoteOf(leg.remote);
  if (leg.sentAt === null || container === undefined)
    return { kind: "may_publish", isAbsent: true };
  const state = await lookAtContainer(leg, container, tools);
  const ageMs = tools.now().getTime() - leg.sentAt.getTime();
  switch (state.kind) {
    case "published":
      return findOwnMedia(leg, tools);
    case "finished":
      return { kind: "may_publish", isAbsent: ageMs >= SETTLED_MS };
    case "failed":
      return { kind: "may_publish", isAbsent: true };
    case "working":
      return askAgain("the container is being worked on");
    case "gone":
      return askAgain(state.classified.note);
    case "untold": {
      const { outcome } = state;
      const seconds = outcome.kind === "try_later" ? outcome.retryAfterSeconds : undefined;
      const failure = { ...outcome.failure, code: "outcome_unknown" } as const;
      return { ...askAgain("", seconds), failure };
    }
  }
}
