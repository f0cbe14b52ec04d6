import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import type { MessageQueue } from "../../runtime/storage/queue.ts";
import { HINT_TRACE, hintTrace } from "../../runtime/telemetry/hint-trace.ts";
import type { DuePost } from "./due-post.ts";

/** A hint that a scheduled post is due. Ids and the time only: the rows are the truth. */
export const StartHint = shape(() =>
  z.object({
    v: z.literal(1),
    platformId: z.string(),
    profileId: z.string(),
    postId: z.string(),
    dueAt: z.string(),
    ...HINT_TRACE(),
  }),
);
export type StartHint = ShapeOf<typeof StartHint>;

export const START_QUEUE = "fire-posts";

export class StartQueue {
  readonly #queue: MessageQueue;

  constructor(queue: MessageQueue) {
    this.#queue = queue;
  }

  /** May be lost, doubled, early or late without harm. */
  async hint({ ref, dueAt }: DuePost, delaySeconds: number): Promise<void> {
    const { platformId, profileId, postId } = ref;
    const hint: StartHint = { v: 1, platformId, profileId, postId, dueAt, ...hintTrace() };
    await this.#queue.send(hint, delaySeconds);
  }
}
