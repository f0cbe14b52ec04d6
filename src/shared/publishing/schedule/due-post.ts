import { DUE_COLUMNS, type Due, type DueKind } from "../../due/due-store.ts";
import { rowCodec, text } from "../../runtime/storage/codec.ts";
import type { PostRef } from "../post.ts";

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
