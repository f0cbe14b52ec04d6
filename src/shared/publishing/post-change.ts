import type { CoreView } from "../billing/group-commit.ts";
import { invariant } from "../runtime/errors.ts";
import { toLeg, toPost } from "./post-row.ts";
import { legKey, postKey, type PostPlace, workKey } from "./post-store.ts";
import type { Post } from "./post.ts";

/**
 * The post's rows as the transaction sees them; undefined when somebody changed the post since it was read as `known`.
 * Whatever was decided on what was read, and the list of legs with it, then holds no more.
 */
export function readPost(view: CoreView, place: PostPlace, known: Post) {
  const stored = view.row(postKey(place));
  invariant(stored !== undefined, "a post lost its row");
  const post = toPost(place.platformId, stored.row);
  if (post.revision !== known.revision) return undefined;
  const { networks } = post.draft;
  const legs = networks.flatMap((network) => {
    const found = view.row(legKey(place, network));
    return found === undefined ? [] : [{ leg: toLeg(found.row), etag: found.etag }];
  });
  invariant(legs.length === networks.length, "a post lost rows");
  return { post, etag: stored.etag, legs };
}

export function postRowKeys(place: PostPlace, post: Post): string[] {
  const legs = post.draft.networks.map((network) => legKey(place, network));
  return [postKey(place), workKey(place.postId), ...legs];
}
