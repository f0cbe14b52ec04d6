import * as z from "zod";
import type { NetworkName } from "../../networks/lookup.ts";
import { NETWORK_NAMES } from "../../networks/names.ts";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import type { MessageQueue } from "../../runtime/storage/queue.ts";
import { HINT_TRACE, hintTrace } from "../../runtime/telemetry/hint-trace.ts";
import type { PostRef } from "../post.ts";

/** A hint that legs of a post have something to do. Ids only: the rows are the truth. */
export const PublishHint = shape(() =>
  z.object({
    v: z.literal(1),
    platformId: z.string(),
    profileId: z.string(),
    postId: z.string(),
    networks: z.array(z.enum(NETWORK_NAMES)).min(1),
    ...HINT_TRACE(),
  }),
);
export type PublishHint = ShapeOf<typeof PublishHint>;

export const PUBLISH_QUEUE = "publish-legs";

export class PublishQueue {
  readonly #queue: MessageQueue;

  constructor(queue: MessageQueue) {
    this.#queue = queue;
  }

  /** May be lost, doubled or late without harm. */
  async hint(ref: PostRef, networks: readonly NetworkName[], delaySeconds = 0): Promise<void> {
    const { platformId, profileId, postId } = ref;
    const ids = { platformId, profileId, postId };
    const hint: PublishHint = { v: 1, ...ids, networks: [...networks], ...hintTrace() };
    await this.#queue.send(hint, delaySeconds);
  }

  async ping(): Promise<void> {
    await this.#queue.ping();
  }
}
