import type * as z from "zod";
import { exampleId } from "../runtime/ids.ts";
import type { ShapeOf } from "../runtime/shape.ts";
import type { connection, connectSession, connectSessionCreated } from "./answer-schema.ts";
import type { CreateConnectSessionBody } from "./schema.ts";

export const connectionExample = (): ShapeOf<typeof connection> => ({
  id: exampleId("connection"),
  profileId: exampleId("profile"),
  applicationId: exampleId("application"),
  platform: "bluesky",
  status: "active",
  account: {
    id: "did:plc:ewvi7nxzyoun6zhxrhs64oiz",
    username: "corner-bakery.example",
    displayName: "Corner Bakery",
    avatarUrl: "https://cdn.example.com/corner-bakery.jpg",
    url: "https://bsky.app/profile/did:plc:ewvi7nxzyoun6zhxrhs64oiz",
    kind: "account",
  },
  instanceUrl: "https://bsky.social",
  scopes: ["atproto"],
  limits: { blobBytesMax: 50_000_000 },
  quota: null,
  expiresAt: null,
  lastUsedAt: "2026-03-04T10:00:02.000Z",
  lastError: null,
  createdAt: "2026-03-04T09:58:00.000Z",
  updatedAt: "2026-03-04T09:58:00.000Z",
});

export const revokedExample = (): ShapeOf<typeof connection> => ({
  ...connectionExample(),
  status: "revoked",
});

export const connectBodyExample = (): z.input<ReturnType<typeof CreateConnectSessionBody>> => ({
  platforms: ["bluesky", "mastodon"],
  returnUrl: "https://app.example.com/social/done",
  state: "customer-42",
  branding: { name: "Planner", accentColor: "#1a73e8" },
});

export const sessionExample = (): ShapeOf<typeof connectSession> => ({
  id: exampleId("connectSession"),
  applicationId: exampleId("application"),
  profileId: exampleId("profile"),
  status: "completed",
  platforms: ["bluesky", "mastodon"],
  returnUrl: "https://app.example.com/social/done",
  state: "customer-42",
  branding: { name: "Planner", accentColor: "#1a73e8" },
  connections: [connectionExample()],
  expiresAt: "2026-03-04T11:00:00.000Z",
  createdAt: "2026-03-04T10:00:00.000Z",
});

export const sessionCreatedExample = (): ShapeOf<typeof connectSessionCreated> => ({
  ...sessionExample(),
  status: "open",
  connections: [],
  connectUrl: `https://relay.example.com/api/v1/connect/ui?session=${exampleId("connectSession")}&token=c2VjcmV0`,
});

export const sessionCanceledExample = (): ShapeOf<typeof connectSession> => ({
  ...sessionExample(),
  status: "canceled",
  connections: [],
});
