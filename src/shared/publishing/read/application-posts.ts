import * as z from "zod";
import type { ApplicationScope } from "../../callers/scope.ts";
import { connectionsOf } from "../../connections/connections.ts";
import { NETWORK_NAMES } from "../../networks/names.ts";
import { notFound } from "../../runtime/errors.ts";
import {
  externalIdFilter,
  instantFilter,
  refuseLostPlus,
  withOrderedRange,
} from "../../runtime/fields.ts";
import { exampleId } from "../../runtime/ids.ts";
import { pageQuery, type Page } from "../../runtime/page.ts";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { searchIndex, SEARCHED_ROWS_MAX } from "../../runtime/search-index.ts";
import type { PublishingDeps } from "../deps.ts";
import { type IndexedPost, POST_PROBLEMS, postProblems } from "../post-index.ts";
import type { PostWithLegs } from "../post-store.ts";
import { type IndexName, POST_STATUSES } from "../post.ts";
import { dependsOnConnections, postView, type PostView } from "./post-view.ts";

/* The posts of all profiles of an application, for people. What a call reads is bounded, however many posts there are. */

/** Queries of an index in one call: 4,000 posts are searched. */
const QUERIES_MAX = 4;
/** Posts that a call reads where only the post itself says whether it is listed. */
const POSTS_MAX = 100;

const range = (what: string) => ({
  from: instantFilter().optional().describe(`Only those ${what} at this time or later.`),
  to: instantFilter()
    .optional()
    .describe(`Only those ${what} before. Must be later than \`from\`.`),
});

const ofNetworkAndProfile = shape(() => ({
  profileId: z
    .string()
    .max(64)
    .optional()
    .describe("Only those of this profile.")
    .meta({ examples: [exampleId("profile")] }),
  platform: z.enum(NETWORK_NAMES).optional().describe("Only those with a leg for this network."),
}));

export const ListApplicationPostsQuery = shape(() =>
  withOrderedRange(
    z.strictObject({
      ...pageQuery(),
      ...ofNetworkAndProfile(),
      ...range("created"),
      status: z.enum(POST_STATUSES).optional(),
      externalId: externalIdFilter().optional(),
      problem: z
        .enum([...POST_PROBLEMS, "any"])
        .optional()
        .describe(
          "Only those with a leg whose outcome is unknown (`outcome_unknown`), whose first comment failed or is unknown (`first_comment`), or whose latest removal failed (`removal`). Legs that were removed don't count as the first two. `any`: one of the three. Posts that failed for another reason are found by `status`.",
        ),
    }),
  ),
);
type ListApplicationPosts = ShapeOf<typeof ListApplicationPostsQuery>;

export const ListScheduleQuery = shape(() =>
  withOrderedRange(z.strictObject({ ...pageQuery(), ...ofNetworkAndProfile(), ...range("due") })),
);
type ListSchedule = ShapeOf<typeof ListScheduleQuery>;

/** What to list: an index, the part of it to search, and what fits. */
interface PostsQuery {
  readonly index: IndexName;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly at: string | undefined;
  readonly limit: number;
  /** Tells from the index alone whether a post may fit. Absent when all may. */
  readonly mayFit: ((entry: IndexedPost) => boolean) | undefined;
  /** Whether posts that the index offers often don't fit, so that more of them are read than the page has. */
  readonly readsMore: boolean;
  readonly fits: (found: PostWithLegs, key: string) => boolean;
}

/** Returns the posts that fit in the order of the index, and the key of the entry at which the next page begins. */
function searchPosts(
  { stores }: PublishingDeps,
  { platformId, applicationId }: ApplicationScope,
  { index, from, to, readsMore, ...search }: PostsQuery,
) {
  const readsMax = readsMore ? POSTS_MAX : search.limit;
  return searchIndex<IndexedPost, PostWithLegs>({
    ...search,
    async list(at, limit) {
      const part = { index, platformId, applicationId, from, to, at, limit };
      const entries = await stores.postIndex.list(part);
      return entries.map(({ key, post }) => ({ key, entry: post }));
    },
    read: ({ profileId, postId }) => stores.posts.find({ platformId, profileId, postId }, "people"),
    rows: search.mayFit === undefined ? readsMax + 1 : SEARCHED_ROWS_MAX,
    queriesMax: QUERIES_MAX,
    readsMax,
  });
}

/** Shows posts of several profiles. Reads the connections of each profile once, if the answer depends on them. */
async function viewPosts(
  { config, connections }: PublishingDeps,
  { platformId, locale }: ApplicationScope,
  items: readonly PostWithLegs[],
): Promise<PostView[]> {
  const profileIds = new Set(
    items.filter(dependsOnConnections).map(({ post: { profileId } }) => profileId),
  );
  const ofProfiles = new Map(
    await Promise.all(
      [...profileIds].map(async (profileId) => {
        const found = await connectionsOf(connections, { platformId, profileId }, "people");
        return [profileId, found] as const;
      }),
    ),
  );
  return items.map((found) =>
    postView(found, config.publicBaseUrl, ofProfiles.get(found.post.profileId), locale),
  );
}

/** Returns the test of an index row for the filters that it can decide; undefined when none of them is given. */
function columnFilter(filter: {
  readonly profileId?: string | undefined;
  readonly platform?: IndexedPost["networks"][number] | undefined;
  readonly externalId?: string | undefined;
}): PostsQuery["mayFit"] {
  const { profileId, platform, externalId } = filter;
  if (profileId === undefined && platform === undefined && externalId === undefined)
    return undefined;
  return (entry) =>
    (profileId === undefined || entry.profileId === profileId) &&
    (platform === undefined || entry.networks.includes(platform)) &&
    (externalId === undefined || entry.externalId === externalId);
}

/** Lists the posts of an application, newest first. @throws AppError `invalid_cursor` */
export async function listApplicationPosts(
  deps: PublishingDeps,
  scope: ApplicationScope,
  query: ListApplicationPosts,
): Promise<Page<PostView>> {
  const { limit, cursor, ...filter } = query;
  const { status, problem, from, to } = filter;
  const { platformId, applicationId } = scope;
  const bound = { list: "application posts", platformId, applicationId, ...filter };
  const at = deps.cursors.read(cursor, bound);
  const isAmongProblems =
    problem !== undefined || status === "failed" || status === "partial" || status === "canceled";
  const { items, next } = await searchPosts(deps, scope, {
    index: isAmongProblems ? "problem" : "application",
    from,
    to,
    at,
    limit,
    mayFit: columnFilter(filter),
    readsMore: isAmongProblems || status !== undefined,
    fits(found) {
      if (status !== undefined && found.post.status !== status) return false;
      if (problem === undefined) return true;
      const problems = postProblems(found);
      return problem === "any" ? problems.size > 0 : problems.has(problem);
    },
  });
  refuseLostPlus(
    "externalId",
    query.externalId,
    items.length > 0 || next !== undefined || at !== undefined,
  );
  return {
    items: await viewPosts(deps, scope, items),
    nextCursor: next === undefined ? null : deps.cursors.make(next, bound),
    limit,
  };
}

/** Returns a post of the application, whatever profile it belongs to. @throws AppError `not_found` */
export async function getApplicationPost(
  deps: PublishingDeps,
  scope: ApplicationScope,
  postId: string,
): Promise<PostView> {
  const { platformId, applicationId } = scope;
  const { postIndex, posts } = deps.stores;
  const entry = await postIndex.find(platformId, applicationId, postId);
  if (entry === undefined) throw notFound();
  const { profileId } = entry;
  const found = await posts.find({ platformId, profileId, postId }, "people");
  if (found === undefined) throw notFound();
  const [view] = await viewPosts(deps, scope, [found]);
  if (view === undefined) throw notFound();
  return view;
}

/** Lists the scheduled posts of an application, soonest first. @throws AppError `invalid_cursor` */
export async function listSchedule(
  deps: PublishingDeps,
  scope: ApplicationScope,
  query: ListSchedule,
): Promise<Page<PostView>> {
  const { limit, cursor, ...filter } = query;
  const { platformId, applicationId } = scope;
  const bound = { list: "schedule", platformId, applicationId, ...filter };
  const { items, next } = await searchPosts(deps, scope, {
    index: "schedule",
    from: filter.from,
    to: filter.to,
    at: deps.cursors.read(cursor, bound),
    limit,
    mayFit: columnFilter(filter),
    readsMore: false,
    // It may have started, or moved to another entry, since the index was read.
    fits: ({ post: { status, draft } }, key) =>
      status === "scheduled" && key.includes(`|${draft.scheduleAt}|`),
  });
  return {
    items: await viewPosts(deps, scope, items),
    nextCursor: next === undefined ? null : deps.cursors.make(next, bound),
    limit,
  };
}
