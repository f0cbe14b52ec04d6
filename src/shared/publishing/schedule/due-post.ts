import type { Due, DueKind } from "../../due/due-store.ts";
import { textOf } from "../../runtime/storage/row.ts";
import type { PostPlace } from "../post-store.ts";

/** A post that is due at a time (table `due`). */
export type DuePost = Due<PostPlace>;

export const DUE_POSTS: DueKind<PostPlace> = {
  idOf: ({ postId }) => postId,
  ownerOf: ({ platformId }) => platformId,
  toProperties: ({ platformId, profileId, postId }) => ({ platformId, profileId, postId }),
  toPlace: (row) => ({
    platformId: textOf(row, "platformId"),
    profileId: textOf(row, "profileId"),
    postId: textOf(row, "postId"),
  }),
};
