import { profileScope } from "../shared/http/profile-access.ts";
import { route } from "../shared/http/route.ts";
import { post, timeline } from "../shared/posts/answer-schema.ts";
import { partialExample, timelineExample } from "../shared/posts/examples.ts";
import { getPost } from "../shared/posts/get-post.ts";
import { getTimeline } from "../shared/posts/get-timeline.ts";
import { listPosts } from "../shared/posts/list-posts.ts";
import { ListPostsQuery } from "../shared/posts/list-schema.ts";

/** Those of the posts' routes that need nothing of a network. */
export const postReadRoutes = [
  route("GET", "v1/posts", {
    operationId: "listPosts",
    summary: "The profile's posts, newest first.",
    access: profileScope,
    query: ListPostsQuery,
    status: 200,
    list: true,
    response: post,
    examples: () => ({ answer: partialExample() }),
    run: ({ services, scope, query }) => listPosts(services, scope, query),
  }),
  route("GET", "v1/posts/{postId}", {
    operationId: "getPost",
    summary: "A post with its legs.",
    access: profileScope,
    status: 200,
    response: post,
    errors: ["not_found"],
    examples: () => ({ answer: partialExample() }),
    run: ({ services, scope, params }) => getPost(services, scope, params.postId),
  }),
  route("GET", "v1/posts/{postId}/timeline", {
    operationId: "getTimeline",
    summary: "What happened to a post, in order.",
    description:
      "For people who look for the reason of something: every call to a network with its time and status, never a secret. Steps are added without notice; build nothing on them.",
    access: profileScope,
    status: 200,
    response: timeline,
    errors: ["not_found"],
    examples: () => ({ answer: timelineExample() }),
    run: ({ services, scope, params }) => getTimeline(services, scope, params.postId),
  }),
];
