import { randomUUID } from "node:crypto";
import { HttpFailure } from "../../runtime/http-call.ts";
import type { NetworkTools } from "../../networks/contract/tools.ts";
import type { NetworkName } from "../../networks/networks.ts";
import type { Clock } from "../../runtime/process.ts";
import type { PublishingDeps } from "../deps.ts";
import { timelineStep, type TimelineStep } from "../timeline-store.ts";

type RecordedStep = Pick<TimelineStep, "step" | "outcome"> & Partial<TimelineStep>;

/** Collects what one worker does for one leg, and stores it when the worker has finished. */
export interface TimelineRecorder {
  record(step: RecordedStep): void;
  /** Returns the tools with every call recorded. */
  tools(tools: NetworkTools): NetworkTools;
  /** Stores the steps. A failure is only logged, because it must not undo what the steps record. */
  save(deps: PublishingDeps, postId: string, run: string): Promise<void>;
}

async function append(
  deps: PublishingDeps,
  postId: string,
  run: string,
  steps: readonly TimelineStep[],
): Promise<void> {
  try {
    await deps.stores.timeline.append(postId, run, steps);
  } catch (error) {
    deps.log.warn("timeline not written", { postId, error });
  }
}

/** Stores one step of the post. A failure is only logged. */
export function noteStep(deps: PublishingDeps, postId: string, step: TimelineStep): Promise<void> {
  return append(deps, postId, randomUUID(), [step]);
}

/** Makes an empty timeline of a leg. `attempt` returns the number of the current attempt. */
export function createTimelineRecorder(
  network: NetworkName,
  attempt: () => number,
  clock: Clock,
): TimelineRecorder {
  const steps: TimelineStep[] = [];
  const record = (recorded: RecordedStep) => {
    const step = timelineStep(clock.now().toISOString(), recorded.step);
    steps.push({ ...step, platform: network, attempt: attempt(), ...recorded });
  };
  return {
    record,
    tools: (tools) => ({
      ...tools,
      async http(request) {
        const at = clock.now();
        const called = { step: "network_call", at: at.toISOString() } as const;
        const { method, url } = request;
        let note: string = method;
        if (URL.canParse(url)) {
          // Without its query, which may have tokens and codes.
          const { host, pathname } = new URL(url);
          note = `${method} ${host}${pathname}`.slice(0, 300);
        }
        const durationMs = () => clock.now().getTime() - at.getTime();
        try {
          const answer = await tools.http(request);
          const outcome = answer.status < 400 ? "ok" : "refused";
          const networkStatus = answer.status;
          record({ ...called, outcome, durationMs: durationMs(), networkStatus, note });
          return answer;
        } catch (error) {
          const outcome = error instanceof HttpFailure ? error.reason : "error";
          record({ ...called, outcome, durationMs: durationMs(), note });
          throw error;
        }
      },
    }),
    save: (deps, postId, run) => append(deps, postId, run, steps),
  };
}
