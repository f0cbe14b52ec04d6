import * as z from "zod";
import type { NetworkName } from "../networks/networks.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import { shape, type ShapeOf } from "../runtime/shape.ts";
import { hintOf } from "../runtime/storage/queue.ts";
import type { PostRef } from "./post.ts";

// The queue of posts. Messages have only ids, because the rows are the truth. Any message may be lost, repeated, early
// or late without harm.

const POST_IDS = () => ({ platformId: z.string(), profileId: z.string(), postId: z.string() });

export const PublishingHint = shape(() =>
  z.discriminatedUnion("kind", [
    hintOf("legs", { ...POST_IDS(), networks: z.array(z.enum(NETWORK_NAMES)).min(1) }),
    hintOf("start", { ...POST_IDS(), dueAt: z.string() }),
  ]),
);
export type PublishingHint = ShapeOf<typeof PublishingHint>;
export type LegsHint = PostRef & { readonly networks: readonly NetworkName[] };
export type StartHint = PostRef & { readonly dueAt: string };

export const PUBLISHING_QUEUE = "publishing";
