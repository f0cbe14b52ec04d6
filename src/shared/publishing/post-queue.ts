import * as z from "zod";
import { DUE_COLUMNS, type Due, type DueKind } from "../due/due-store.ts";
import type { NetworkName } from "../networks/lookup.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import { shape, type ShapeOf } from "../runtime/shape.ts";
import { rowCodec, text } from "../runtime/storage/codec.ts";
import type { MessageQueue } from "../runtime/storage/queue.ts";
import { HINT_TRACE, hintTrace } from "../runtime/telemetry/hint-trace.ts";
import type { PostRef } from "./post.ts";

// The queues of posts. Their messages carry ids alone, since the rows are the truth: each may be lost, doubled, early or
// late without harm.

const postHint = shape(() =>
  z.object({
    v: z.literal(1),
    platformId: z.string(),
    profileId: z.string(),
    postId: z.string(),
    ...HINT_TRACE(),
  }),
);

function hintOf({ platformId, profileId, postId }: PostRef): ShapeOf<typeof postHint> {
  return { v: 1, platformId, profileId, postId, ...hintTrace() };
}

/** A hint that legs of a post have something to do. */
export const PublishHint = shape(() =>
  postHint().extend({ networks: z.array(z.enum(NETWORK_NAMES)).min(1) }),
);
export type PublishHint = ShapeOf<typeof PublishHint>;

export const PUBLISH_QUEUE = "publish-legs";

/** The queue of legs that have something to do. */
export class PublishQueue {
  readonly #queue: MessageQueue;

  constructor(queue: MessageQueue) {
    this.#queue = queue;
  }

  /** Sends a hint that is seen after the delay. */
  async hint(ref: PostRef, networks: readonly NetworkName[], delaySeconds = 0): Promise<void> {
    const hint: PublishHint = { ...hintOf(ref), networks: [...networks] };
    await this.#queue.send(hint, delaySeconds);
  }

  /** Asks whether the queue answers. */
  async ping(): Promise<void> {
    await this.#queue.ping();
  }
}

/** A post that is due at a time (table `due`). */
export type DuePost = Due<PostRef>;

/** How due posts are stored. */
export const DUE_POSTS: DueKind<PostRef> = {
  codec: rowCodec("due post", {
    ...DUE_COLUMNS,
    platformId: text(),
    profileId: text(),
    postId: text(),
  }),
  idOf: ({ postId }) => postId,
  ownerOf: ({ platformId }) => platformId,
};

/** A hint that a scheduled post is due. */
export const StartHint = shape(() => postHint().extend({ dueAt: z.string() }));
export type StartHint = ShapeOf<typeof StartHint>;

export const START_QUEUE = "fire-posts";

/** The queue of scheduled posts that are due. */
export class StartQueue {
  readonly #queue: MessageQueue;

  constructor(queue: MessageQueue) {
    this.#queue = queue;
  }

  /** Sends a hint that is seen after the delay. */
  async hint({ ref, dueAt }: DuePost, delaySeconds: number): Promise<void> {
    const hint: StartHint = { ...hintOf(ref), dueAt };
    await this.#queue.send(hint, delaySeconds);
  }
}
