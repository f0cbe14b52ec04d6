import type * as z from "zod";
import { exampleId } from "../../runtime/ids.ts";
import type { ShapeOf } from "../../runtime/shape.ts";
import type { apiKey, apiKeyCreated, profileGrant } from "./answer-schema.ts";
import type { CreateKeyBody } from "./schema.ts";

export const createKeyExample = (): z.input<ReturnType<typeof CreateKeyBody>> => ({
  name: "Backend",
  scope: "restricted",
  allowedProfileIds: [exampleId("profile")],
});

export const keyExample = (): ShapeOf<typeof apiKey> => ({
  id: exampleId("key"),
  applicationId: exampleId("application"),
  name: "Backend",
  scope: "restricted",
  allowedProfileIds: [exampleId("profile")],
  keyPrefix: "sk_live_01M7W9E6",
  status: "active",
  expiresAt: null,
  lastUsedAt: "2026-03-04T11:12:13.000Z",
  createdAt: "2026-03-04T10:00:00.000Z",
  createdBy: { kind: "session", id: exampleId("user") },
});

export const keyCreatedExample = (): ShapeOf<typeof apiKeyCreated> => ({
  ...keyExample(),
  lastUsedAt: null,
  secret: "sk_live_01M7W9E67FZ0MY7YCJ6NF25H01_theSecretPartThatIsShownOnce_000000",
});

export const grantExample = (): ShapeOf<typeof profileGrant> => ({
  token: "eyJhbGciOiJIUzI1NiIsInR5cCI6InByb2ZpbGUtZ3JhbnQrand0In0.eyJwcmYiOiJwcmYifQ.signature",
  profileId: exampleId("profile"),
  applicationId: exampleId("application"),
  expiresIn: 900,
  expiresAt: "2026-03-04T10:15:00.000Z",
  header: "X-Profile-Grant",
});
