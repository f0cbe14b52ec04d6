import { anyone } from "../shared/http/access/access.ts";
import {
  acceptingScope,
  activeProfileScope,
  profileScope,
  publishingScope,
} from "../shared/http/access/profile-access.ts";
import { withStatus } from "../shared/http/reply.ts";
import { route, type Route } from "../shared/http/route.ts";
import {
  createPost,
  getNetworks,
  networkDescriptions,
  networksExample,
  validatePost,
  issuesOfPlatforms,
  removePost,
  retryPost,
  cancelPost,
  issuesOfUpdate,
  updatePost,
} from "../shared/publishing/publishing.ts";
import {
  DraftBody,
  RemoveBody,
  RetryBody,
  UpdatePostBody,
  ValidateQuery,
  issuesOfDraft,
} from "../shared/publishing/accept/schema.ts";
import { post, validation } from "../shared/publishing/answer-schema.ts";
import {
  acceptedExample,
  canceledExample,
  draftExample,
  removingExample,
  scheduledExample,
  validationExample,
} from "../shared/publishing/examples.ts";
import { postReadRoutes } from "./post-reads.ts";

export const postRoutes = [
  route("POST", "v1/posts/validate", {
    operationId: "validatePost",
    summary: "Validate a post",
    description:
      "Checks a draft against the networks' rules, the same rules that apply when a post is accepted. Nothing is published. Costs 1 token, and with `media=true` 1 more for every media URL that is fetched and checked. Problems are returned in the response, not as an error. A file whose server doesn't answer within 15 seconds is `media_unreachable`. While 12 requests of the platform are waiting for files, further ones with `media=true` are refused with `rate_limited`.",
    access: publishingScope,
    body: DraftBody,
    query: ValidateQuery,
    response: validation,
    answerHeaders: ["Vary"],
    moreIssues: ({ services, body }) =>
      issuesOfDraft(body, services.clock.now(), services.config.publicBaseUrl),
    errors: ["insufficient_tokens", "daily_budget_reached"],
    examples: () => ({ body: draftExample(), answer: validationExample() }),
    run: ({ services, scope, body, query }) =>
      validatePost(services.publishing, scope, { draft: body, media: query.media }),
  }),
  route("POST", "v1/posts", {
    operationId: "createPost",
    summary: "Create a post",
    description:
      "Publishes it now, or at `scheduleAt`. When the response arrives, the post is stored and its tokens are reserved. It is published afterwards: read it again, or wait for its webhook, until `status` is `succeeded`, `partial` or `failed`. Each leg reserves 10 tokens, which are settled when it is published and released when it fails. A network that can't publish the post doesn't delay the others: its leg is `failed` from the start and costs nothing. With `scheduleAt`, storing the post costs 2 tokens, and the tokens for its legs are reserved when it is due.",
    access: acceptingScope,
    headers: ["Idempotency-Key"],
    body: DraftBody,
    moreIssues: ({ services, body }) =>
      issuesOfDraft(body, services.clock.now(), services.config.publicBaseUrl),
    status: 202,
    response: post,
    answers: {
      201: "Stored; it will be published at `scheduleAt`.",
      202: "Accepted; it is being published.",
    },
    answerHeaders: ["Idempotent-Replayed", "Vary"],
    errors: [
      "idempotency_key_required",
      "idempotency_key_invalid",
      "idempotency_conflict",
      "insufficient_tokens",
      "daily_budget_reached",
      "duplicate_content",
      "not_publishable",
    ],
    examples: () => ({ body: draftExample(), answer: acceptedExample() }),
    run: async ({ services, scope, body, headers }) => {
      const idempotencyKey = headers.get("idempotency-key");
      const created = await createPost(services.publishing, scope, { idempotencyKey, draft: body });
      const replayed = created.replayed ? ([["idempotent-replayed", "true"]] as const) : [];
      return withStatus(created.httpStatus, created.post, replayed);
    },
  }),
  ...postReadRoutes,
  route("PATCH", "v1/posts/{postId}", {
    operationId: "updatePost",
    summary: "Update a scheduled post",
    description:
      "Possible until the post starts. Fields that aren't sent stay unchanged. Null clears a field that a new post may leave out, except `scheduleAt`. With `expectedUpdatedAt`, the post is changed only if it hasn't changed since; otherwise the response is 409 `conflict`. The event is `post.updated`.",
    access: activeProfileScope,
    body: UpdatePostBody,
    moreIssues: ({ services, scope, params, body }) =>
      issuesOfUpdate(services.publishing, scope, { postId: params["postId"] ?? "", change: body }),
    response: post,
    answerHeaders: ["Vary"],
    errors: ["not_found", "invalid_state", "conflict", "not_publishable"],
    examples: () => ({
      body: {
        scheduleAt: "2026-03-06T07:00:00.000Z",
        expectedUpdatedAt: "2026-03-04T10:00:00.000Z",
      },
      answer: scheduledExample(),
    }),
    run: ({ services, scope, params, body }) =>
      updatePost(services.publishing, scope, { postId: params.postId, change: body }),
  }),
  route("DELETE", "v1/posts/{postId}", {
    operationId: "cancelPost",
    summary: "Cancel a scheduled post",
    description:
      "Possible until the post starts. Its legs are skipped, and nothing is charged except the price of storing it.",
    access: profileScope,
    response: post,
    answerHeaders: ["Vary"],
    errors: ["not_found", "invalid_state"],
    examples: () => ({ answer: canceledExample() }),
    run: ({ services, scope, params }) => cancelPost(services.publishing, scope, params.postId),
  }),
  route("POST", "v1/posts/{postId}/retry", {
    operationId: "retryPost",
    summary: "Retry failed legs",
    description:
      "Retries all failed legs, or those in `platforms`. Each reserves 10 tokens. If the outcome of an earlier attempt is unknown, the relay checks on the network before it sends anything again. A leg's `retryAvailable` says whether a retry makes sense without a change.",
    access: activeProfileScope,
    body: RetryBody,
    moreIssues: ({ services, scope, params, body }) =>
      issuesOfPlatforms(services.publishing, scope, {
        postId: params["postId"] ?? "",
        platforms: body["platforms"],
      }),
    status: 202,
    response: post,
    answerHeaders: ["Vary"],
    errors: [
      "not_found",
      "invalid_state",
      "nothing_to_retry",
      "insufficient_tokens",
      "daily_budget_reached",
    ],
    examples: () => ({ body: { platforms: ["mastodon" as const] }, answer: acceptedExample() }),
    run: ({ services, scope, params, body }) =>
      retryPost(services.publishing, scope, { postId: params.postId, networks: body.platforms }),
  }),
  route("POST", "v1/posts/{postId}/remove", {
    operationId: "removePost",
    summary: "Remove a published post",
    description:
      "Removes everything that the post published, or only the legs in `platforms`: legs that are `succeeded`, and legs that failed with `outcome_unknown`, for which the relay first checks on the network. It is free. The networks are called after the response, for up to an hour: read the post again, or wait for `leg.removed` or `leg.removal_failed`, until `removal.status` is no longer `pending`. The legs keep their status and stay settled. Legs that are still being published are left alone. This also works for a disabled profile.",
    access: profileScope,
    body: RemoveBody,
    moreIssues: ({ services, scope, params, body }) =>
      issuesOfPlatforms(services.publishing, scope, {
        postId: params["postId"] ?? "",
        platforms: body["platforms"],
      }),
    status: 202,
    response: post,
    answerHeaders: ["Vary"],
    errors: ["not_found", "invalid_state", "nothing_to_remove", "removal_unsupported"],
    examples: () => ({ body: { platforms: ["bluesky" as const] }, answer: removingExample() }),
    run: ({ services, scope, params, body }) =>
      removePost(services.publishing, scope, { postId: params.postId, networks: body.platforms }),
  }),
];

export const networkRoutes: readonly Route[] = [
  route("GET", "v1/networks", {
    operationId: "getNetworks",
    summary: "Get networks and their rules",
    description:
      "The networks' fields, limits and rules, by which posts are checked. Use them to validate posts in your own forms. Needs no credential and may be cached for an hour.",
    access: anyone,
    response: networkDescriptions,
    examples: () => ({ answer: networksExample() }),
    run: ({ services }) =>
      withStatus(200, getNetworks(services.publishing), [
        ["cache-control", "public, max-age=3600"],
      ]),
  }),
];
