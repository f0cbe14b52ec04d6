import {
  listApplicationConnections,
  ListApplicationConnectionsQuery,
} from "../shared/connections/connections.ts";
import {
  applicationConnection,
  applicationConnectionExample,
} from "../shared/connections/answer-schema.ts";
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
import { stats } from "../shared/webhooks/answer-schema.ts";
import { statsExample } from "../shared/webhooks/examples.ts";
import { GetStatsQuery } from "../shared/webhooks/schema.ts";
import { getStats } from "../shared/webhooks/webhooks.ts";

/** Reads across all profiles of an application, for consoles and for support. */
export const applicationReadRoutes = [
  route("GET", "v1/applications/{applicationId}/posts", {
    operationId: "listApplicationPosts",
    summary: "List an application's posts",
    description:
      "The posts of all profiles of the application, newest first. Those that need attention are found by three calls: `status=failed`, `status=partial` and `problem=any`. The list is up to date as soon as a post is accepted or changed. A filtered call searches at most 4,000 posts, so a page may be short or empty while `hasMore` is true.",
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
    description: "Returns the post with its legs, for any profile of the application.",
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
      "The scheduled posts of all profiles of the application, soonest first. The list contains a post from the moment it is accepted until it starts or is canceled. `from` and `to` filter by `scheduleAt`. A filtered call searches at most 4,000 posts, so a page may be short or empty while `hasMore` is true.",
    access: appAdminInPath,
    query: ListScheduleQuery,
    list: true,
    response: post,
    answerHeaders: ["Vary"],
    examples: () => ({ answer: scheduledExample() }),
    run: ({ services, scope, query }) => listSchedule(services.publishing, scope, query),
  }),
  route("GET", "v1/applications/{applicationId}/connections", {
    operationId: "listApplicationConnections",
    summary: "List an application's connections",
    description:
      "The linked accounts of all profiles of the application, newest first, each with its profile. Accounts that were unlinked are listed as `revoked` until their profile links another one of the network. A filtered call searches at most 1,000 connections, and at most 100 with a `status` other than `attention`, so a page may be short or empty while `hasMore` is true.",
    access: appAdminInPath,
    query: ListApplicationConnectionsQuery,
    list: true,
    answerHeaders: ["Vary"],
    response: applicationConnection,
    examples: () => ({ answer: applicationConnectionExample() }),
    run: ({ services, scope, query }) =>
      listApplicationConnections(services.connections, scope, query),
  }),
  route("GET", "v1/applications/{applicationId}/stats", {
    operationId: "getStats",
    summary: "Get daily statistics",
    description:
      "Posts that ended on each UTC day, and legs by network, with the codes of those that failed. A post that is retried ends twice, and a leg that fails when it is accepted counts. Days without an entry are left out. A range has at most 92 days, and counts are kept for 400 days. What ended after `asOf` is not counted yet: usually the last 15 seconds, or more after a burst.",
    access: appAdminInPath,
    query: GetStatsQuery,
    response: stats,
    examples: () => ({ answer: statsExample() }),
    run: ({ services, scope, query }) => getStats(services.webhooks, scope, query),
  }),
];
