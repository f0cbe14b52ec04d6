import { scopesLacked } from "../contract/fields.ts";
import type { FollowUpCall } from "../contract/visible-call.ts";
import { graphComment } from "../graph/comment.ts";
import { graphPostJson } from "../graph/request.ts";
import { classify } from "./errors.ts";
import { isNoStory } from "./remove.ts";
import { COMMENTS } from "./settings.ts";
import { type Credentials, pageOf, type Remote, steps } from "./state.ts";

/** https://developers.facebook.com/docs/pages-api/comments-mentions. The post is the feed's or the video, never a photo. */
const written = graphComment<Credentials, Remote>({
  accessOf: pageOf,
  request: (access, path, message) =>
    graphPostJson(access, path, { message }, { fields: "id,permalink_url" }),
  query: {
    // A post's default list is ranked, and may omit a comment.
    filter: "stream",
    order: "reverse_chronological",
    fields: "id,message,created_time,from{id},permalink_url",
  },
  isOwn: ({ from }, { credentials }) => from?.id === credentials.pageId,
  classify,
});

export const comment: FollowUpCall = {
  ...steps.following(written),
  isSupported: isNoStory,
  missingScopes: (scopes) => scopesLacked([COMMENTS], scopes),
};
