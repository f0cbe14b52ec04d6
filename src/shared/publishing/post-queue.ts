import * as z from "zod";
import { DUE_COLUMNS, type Due, type DueKind } from "../due/due-store.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import type { ShapeOf } from "../runtime/shape.ts";
import { rowCodec, text } from "../runtime/storage/codec.ts";
import { hintShape, type HintQueue } from "../runtime/storage/queue.ts";
import type { PostRef } from "./post.ts";

// The queues of posts. Messages carry only ids, since the rows are the truth: any of them may be lost, doubled, early
// or late without harm.

const POST_IDS = () => ({ platformId: z.string(), profileId: z.string(), postId: z.string() });

export const PublishHint = hintShape(() => ({
  ...POST_IDS(),
  networks: z.array(z.enum(NETWORK_NAMES)).min(1),
}));
export type PublishHint = ShapeOf<typeof PublishHint>;

export const PUBLISH_QUEUE = "publish-legs";
export type PublishQueue = HintQueue<PublishHint>;

/** A post that is due at a time (table `due`). */
export type DuePost = Due<PostRef>;

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

export const StartHint = hintShape(() => ({ ...POST_IDS(), dueAt: z.string() }));
export type StartHint = ShapeOf<typeof StartHint>;

export const START_QUEUE = "fire-posts";
export type StartQueue = HintQueue<StartHint>;
