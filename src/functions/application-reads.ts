import { appAdminInPath } from "../shared/http/access/access.ts";
import { route } from "../shared/http/route.ts";
import { post } from "../shared/publishing/answer-schema.ts";
import { partialExample, scheduledExample } from "../shared/publishing/examples.ts";
import {
  getApplicationPost,
  listApplicationPosts,
  ListApplicationPostsQuery,
  listSchedule,
  ListScheduleQuery,
} from "../shared/publishing/publishing.ts";

/** Reads across all profiles of an application, for consoles and for support. */
export const applicationReadRoutes = [
  route("GET", "v1/applications/{applicationId}/posts", {
    operationId: "listApplicationPosts",
    summary: "List an application's posts",
    description:
      "The posts of all profiles of the application, newest first. The list is exact as soon as a post is accepted or changed. A filtered call searches at most 4,000 posts, so a page may be short or empty while `hasMore` is true.",
    access: appAdminInPath,
    query: ListApplicationPostsQuery,
    list: true,
    response: post,
    answerHeaders: ["Vary"],
    examples: () => ({ answer: partialExample() }),
    run: ({ services, scope, query }) => listApplicationPosts(services.publishing, scope, query),
  }),
  route("GET", "v1/applications/{applicationId}/posts/{postId}", {
    operationId: "getApplicationPost",
    summary: "Get an application's post",
    description:
      "Returns the post with its legs, whatever profile of the application it belongs to.",
    access: appAdminInPath,
    response: post,
    answerHeaders: ["Vary"],
    errors: ["not_found"],
    examples: () => ({ answer: partialExample() }),
    run: ({ services, scope, params }) =>
      getApplicationPost(services.publishing, scope, params.postId),
  }),
  route("GET", "v1/applications/{applicationId}/schedule", {
    operationId: "listSchedule",
    summary: "List an application's scheduled posts",
    description:
      "The scheduled posts of all profiles of the application, soonest first. A post is in the list from the answer that accepts it until it starts or is canceled. `from` and `to` are times of `scheduleAt`. A filtered call searches at most 4,000 posts, so a page may be short or empty while `hasMore` is true.",
    access: appAdminInPath,
    query: ListScheduleQuery,
    list: true,
    response: post,
    answerHeaders: ["Vary"],
    examples: () => ({ answer: scheduledExample() }),
    run: ({ services, scope, query }) => listSchedule(services.publishing, scope, query),
  }),
];
