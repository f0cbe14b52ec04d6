import * as z from "zod";
import type { ApplicationScope } from "../callers/scope.ts";
import { pageQuery, type Page } from "../runtime/page.ts";
import { shape, type ShapeOf } from "../runtime/shape.ts";
import { undefinedIfDamaged } from "../runtime/storage/damaged-row.ts";
import { searchIndex, SEARCHED_ROWS_MAX } from "../runtime/search-index.ts";
import { networkName } from "../networks/answer-schema.ts";
import { connectionStatus } from "./answer-schema.ts";
import { needsAttention } from "./connection-index.ts";
import type { ApplicationConnectionView, Connection } from "./connection.ts";
import type { ConnectionsDeps } from "./deps.ts";
import { viewConnection } from "./view-connection.ts";

/** Connections that a call reads where only the connection itself says whether it is listed. */
const CONNECTIONS_MAX = 100;

export const ListApplicationConnectionsQuery = shape(() =>
  z.strictObject({
    ...pageQuery(),
    platform: networkName().optional().describe("Only those of this network."),
    status: z
      .enum([...connectionStatus().options, "attention"])
      .optional()
      .describe(
        "`attention`: those that are `needs_reauth`, and those whose authorization ends within 7 days, which a daily check finds out.",
      ),
  }),
);
type ListApplicationConnections = ShapeOf<typeof ListApplicationConnectionsQuery>;

function hasStatus(connection: Connection, status: ListApplicationConnections["status"]): boolean {
  if (status === "attention") return needsAttention(connection);
  return status === undefined || connection.status === status;
}

/**
 * Lists the connections of all profiles of an application, newest first, each with its profile. What a call reads is
 * bounded: one query; each connection and profile of the page; one read for each account whose network has a quota.
 * @throws AppError `invalid_cursor`
 */
export async function listApplicationConnections(
  deps: ConnectionsDeps,
  { platformId, applicationId, locale }: ApplicationScope,
  { limit, cursor, ...filter }: ListApplicationConnections,
): Promise<Page<ApplicationConnectionView>> {
  const { platform, status } = filter;
  const bound = { list: "application connections", platformId, applicationId, ...filter };
  const { connections } = deps.stores;
  const index = status === "needs_reauth" || status === "attention" ? "attention" : "application";
  const readsMax = status === undefined || status === "attention" ? limit : CONNECTIONS_MAX;
  const { items, next } = await searchIndex({
    list: (at, rows) => connections.listIndexed({ index, platformId, applicationId, at, rows }),
    mayFit: platform && (({ network }) => network === platform),
    async read({ id, profileId, network }) {
      const found = await connections.find({ platformId, profileId, network }, "people");
      // Another account may have been linked in its place since the index was read.
      return found?.id === id ? found : undefined;
    },
    fits: (connection) => hasStatus(connection, status),
    at: deps.cursors.read(cursor, bound),
    limit,
    rows: platform === undefined ? readsMax + 1 : SEARCHED_ROWS_MAX,
    queriesMax: 1,
    readsMax,
  });
  const profileIds = [...new Set(items.map(({ profileId }) => profileId))];
  const [profiles, views] = await Promise.all([
    Promise.all(
      profileIds.map((id) => undefinedIfDamaged(deps.tenants.findProfile(platformId, id))),
    ),
    Promise.all(items.map((connection) => viewConnection(deps, connection, locale))),
  ]);
  const titles = new Map(profileIds.map((id, place) => [id, profiles[place]?.title]));
  return {
    items: views.flatMap((view) => {
      const title = titles.get(view.profileId);
      return title === undefined ? [] : [{ ...view, profile: { id: view.profileId, title } }];
    }),
    nextCursor: next === undefined ? null : deps.cursors.make(next, bound),
    limit,
  };
}
