import { activeProfileScope, profileScope } from "../shared/http/access.ts";
import { paged, withStatus } from "../shared/http/reply.ts";
import { route } from "../shared/http/route.ts";
import { cancelPost, updatePost } from "../shared/posts/change-scheduled.ts";
import { createPost } from "../shared/posts/create-post.ts";
import { getPost } from "../shared/posts/get-post.ts";
import { getTimeline } from "../shared/posts/get-timeline.ts";
import { listPosts } from "../shared/posts/list-posts.ts";
import { retryPost } from "../shared/posts/retry-post.ts";
import {
  DraftBody,
  ListPostsQuery,
  RetryBody,
  UpdatePostBody,
  ValidateQuery,
} from "../shared/posts/schema.ts";
import { validatePost } from "../shared/posts/validate-post.ts";

export const postRoutes = [
  route("POST", "v1/posts/validate", {
    summary: "Check a post against the networks' rules",
    access: activeProfileScope,
    body: DraftBody,
    query: ValidateQuery,
    status: 200,
    run: ({ services, scope, body, query }) =>
      validatePost(services, scope, { draft: body, media: query.media }),
  }),
  route("POST", "v1/posts", {
    summary: "Publish a post",
    access: activeProfileScope,
    body: DraftBody,
    status: 202,
    run: async ({ services, scope, body, headers }) => {
      const idempotencyKey = headers.get("idempotency-key");
      const created = await createPost(services, scope, { idempotencyKey, draft: body });
      const replayed = created.replayed ? ([["idempotent-replayed", "true"]] as const) : [];
      return withStatus(created.httpStatus, created.post, replayed);
    },
  }),
  route("GET", "v1/posts", {
    summary: "The profile's posts, newest first",
    access: profileScope,
    query: ListPostsQuery,
    status: 200,
    run: async ({ services, scope, query }) => paged(await listPosts(services, scope, query)),
  }),
  route("GET", "v1/posts/{postId}", {
    summary: "A post with its legs",
    access: profileScope,
    status: 200,
    run: ({ services, scope, params }) => getPost(services, scope, params.postId),
  }),
  route("GET", "v1/posts/{postId}/timeline", {
    summary: "What happened to a post, in order",
    access: profileScope,
    status: 200,
    run: ({ services, scope, params }) => getTimeline(services, scope, params.postId),
  }),
  route("PATCH", "v1/posts/{postId}", {
    summary: "Change a scheduled post",
    access: activeProfileScope,
    body: UpdatePostBody,
    status: 200,
    run: ({ services, scope, params, body }) =>
      updatePost(services, scope, { postId: params.postId, change: body }),
  }),
  route("DELETE", "v1/posts/{postId}", {
    summary: "Cancel a scheduled post",
    access: profileScope,
    status: 200,
    run: ({ services, scope, params }) => cancelPost(services, scope, params.postId),
  }),
  route("POST", "v1/posts/{postId}/retry", {
    summary: "Retry failed legs",
    access: activeProfileScope,
    body: RetryBody,
    status: 202,
    run: ({ services, scope, params, body }) =>
      retryPost(services, scope, { postId: params.postId, networks: body.platforms }),
  }),
];
