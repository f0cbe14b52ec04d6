import { readingScope } from "../shared/http/access/profile-access.ts";
import { route } from "../shared/http/route.ts";
import { post, timeline } from "../shared/publishing/answer-schema.ts";
import { partialExample, timelineExample } from "../shared/publishing/examples.ts";
import {
  getPost,
  getTimeline,
  listPosts,
  ListPostsQuery,
} from "../shared/publishing/publishing.ts";

/** The routes of posts that need no code of a network. */
export const postReadRoutes = [
  route("GET", "v1/posts", {
    operationId: "listPosts",
    summary: "List posts",
    description: "The profile's posts, newest first.",
    access: readingScope,
    query: ListPostsQuery,
    list: true,
    response: post,
    answerHeaders: ["Vary"],
    examples: () => ({ answer: partialExample() }),
    run: ({ services, scope, query }) => listPosts(services.publishing, scope, query),
  }),
  route("GET", "v1/posts/{postId}", {
    operationId: "getPost",
    summary: "Get a post",
    description: "Returns it with its legs.",
    access: readingScope,
    response: post,
    answerHeaders: ["Vary"],
    errors: ["not_found"],
    examples: () => ({ answer: partialExample() }),
    run: ({ services, scope, params }) => getPost(services.publishing, scope, params.postId),
  }),
  route("GET", "v1/posts/{postId}/timeline", {
    operationId: "getTimeline",
    summary: "Get a post's timeline",
    description:
      "Lists what happened to the post, in order. For troubleshooting: every call to a network with its time and status, never a secret. Steps may be added without notice, so don't build on them.",
    access: readingScope,
    response: timeline,
    errors: ["not_found"],
    examples: () => ({ answer: timelineExample() }),
    run: ({ services, scope, params }) => getTimeline(services.publishing, scope, params.postId),
  }),
];
