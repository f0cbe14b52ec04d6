import { scopesLacked } from "../contract/fields.ts";
import type { FollowUpCall } from "../contract/visible-call.ts";
import { graphComment } from "../graph/comment.ts";
import { graphPostForm } from "../graph/request.ts";
import { classify } from "./errors.ts";
import { isStory } from "../graph/post-form.ts";
import { COMMENTS } from "./settings.ts";
import { accessOf, type Credentials, type Remote, remoteOf, steps } from "./state.ts";

/** https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-media/comments */
const written = graphComment<Credentials, Remote>({
  accessOf,
  request: (access, path, message) => graphPostForm(access, path, { message }),
  query: { fields: "id,text,timestamp,username,user" },
  isOwn: ({ user, username }, { account }) => user !== undefined || username === account.username,
  classify,
});

export const comment: FollowUpCall = {
  ...steps.following(written),
  isSupported: ({ remote }) => !isStory(remoteOf(remote).form),
  missingScopes: (scopes) => scopesLacked([COMMENTS], scopes),
};
