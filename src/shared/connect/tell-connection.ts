import type { Services } from "../services.ts";
import { emitEvent } from "../webhooks/emit-event.ts";
import type { Connection } from "./connection.ts";
import { viewConnection } from "./quota.ts";

type ConnectionEvent =
  "connection.linked" | "connection.expiring" | "connection.needs_reauth" | "connection.removed";

/** Tells the application what became of a connection, with the connection as it is now. */
export async function tellConnection(
  services: Services,
  type: ConnectionEvent,
  connection: Connection,
): Promise<void> {
  const { platformId, applicationId, profileId } = connection;
  await emitEvent(services, platformId, {
    type,
    sequence: null,
    applicationId,
    profileId,
    postId: null,
    data: { connection: await viewConnection(services, connection) },
  });
}

/** For whoever was told by the store that it marked the connection. */
export async function tellNeedsReauth(
  services: Services,
  { profileId, network, id }: Connection,
): Promise<void> {
  const marked = await services.connections.find(profileId, network);
  if (marked?.id === id) await tellConnection(services, "connection.needs_reauth", marked);
}
