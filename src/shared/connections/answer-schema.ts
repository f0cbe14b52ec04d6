import * as z from "zod";
import { actor } from "../callers/caller.ts";
import { count, idOf, time } from "../runtime/fields.ts";
import { docAddress, legErrorCode, networkName, sentences } from "../networks/answer-schema.ts";
import { FEATURE_NAMES } from "../networks/features.ts";
import { shape, type ShapeOf } from "../runtime/shape.ts";
import type { toSessionView } from "./connect-session.ts";
import type { ApplicationConnectionView, ConnectionView, QuotaView } from "./connection.ts";
import { brandingShape, type CreateConnectSessionBody } from "./schema.ts";
import type { startConnectSession } from "./connect-sessions.ts";
import { exampleId } from "../runtime/ids.ts";

export const quota = shape(
  () =>
    z
      .strictObject({
        used: count().describe(
          "Posts in the last 24 hours, of the kind that the network limits: all, or only reels.",
        ),
        limit: count(),
        remaining: count(),
        resetsAt: time().nullable().describe("When the oldest use stops counting."),
      })
      .meta({
        id: "Quota",
        description: "How much of a network's quota an account has used in the last 24 hours.",
      }) satisfies z.ZodType<QuotaView>,
);

export const connectionStatus = shape(() => z.enum(["active", "needs_reauth", "revoked"]));

export const connection = shape(
  () =>
    z
      .strictObject({
        id: idOf("connection"),
        profileId: idOf("profile"),
        applicationId: idOf("application"),
        platform: networkName(),
        status: connectionStatus().describe(
          "`needs_reauth`: the end user has to link the account again before anything can be published to it.",
        ),
        account: z.strictObject({
          id: z.string().describe("The network's id of the account."),
          username: z.string(),
          displayName: z.string(),
          avatarUrl: z.string().nullable(),
          url: z
            .string()
            .nullable()
            .describe("The account's own page. Null if the network doesn't tell its address."),
          kind: z.string(),
        }),
        instanceUrl: z
          .string()
          .nullable()
          .describe("The account's server, on networks with many servers."),
        scopes: z.array(z.string()).describe("Permissions that the end user granted."),
        missingScopes: z
          .array(z.string())
          .describe(
            "Permissions that the page now requests and that this authorization doesn't have, because it is older or the end user declined them. Publishing needs none of them. Linking the account again requests them, if its server supports them.",
          ),
        unavailableFeatures: z
          .array(z.enum(FEATURE_NAMES))
          .describe(
            "Features for which this authorization has no permission: `firstComment`, or `remove` of published posts. Linking the account again helps if `missingScopes` names the permission.",
          ),
        limits: z
          .record(z.string(), z.unknown())
          .describe("The limits that the network states for this account."),
        quota: quota()
          .nullable()
          .describe(
            "How much of the network's publishing quota the account has used, through all profiles that link it. Where a network limits one kind of posts, such as reels, only posts of that kind count. Null if the network has none.",
          ),
        expiresAt: time().nullable(),
        lastUsedAt: time().nullable(),
        lastError: z
          .strictObject({
            code: legErrorCode(),
            rule: z.string().nullable().describe("What is wrong, if it is known more exactly."),
            ...sentences(),
            docUrl: docAddress(),
            at: time(),
          })
          .nullable()
          .describe("Why the network last refused the account."),
        createdAt: time(),
        updatedAt: time(),
      })
      .meta({
        id: "Connection",
        description: "An account that an end user authorized. Its credentials are never returned.",
      }) satisfies z.ZodType<ConnectionView>,
);

export const applicationConnection = shape(
  () =>
    connection()
      .extend({
        profile: z
          .strictObject({ id: idOf("profile"), title: z.string() })
          .describe("The profile that it is linked to."),
      })
      .meta({
        id: "ApplicationConnection",
        description: "An account that an end user authorized, with its profile.",
      }) satisfies z.ZodType<ApplicationConnectionView>,
);

const sessionFields = shape(() => ({
  id: idOf("connectSession"),
  applicationId: idOf("application"),
  profileId: idOf("profile"),
  status: z
    .enum(["open", "completed", "canceled", "expired"])
    .describe("Also `canceled` if the key or user that started it no longer exists."),
  createdBy: actor().describe(
    "The key or user that started it. The session ends when the key is revoked, or the user's session is ended by a logout, a new password or the removal of the user.",
  ),
  platforms: z.array(networkName()).describe("The networks that the page offers."),
  returnUrl: z.string().nullable(),
  state: z.string().nullable(),
  branding: brandingShape(),
  allowDisconnect: z.boolean(),
  connections: z.array(connection()).describe("Accounts that were linked in this session."),
  expiresAt: time(),
  createdAt: time(),
}));

export const connectSession = shape(
  () =>
    z.strictObject(sessionFields()).meta({
      id: "ConnectSession",
      description: "An end user's visit to the hosted page.",
    }) satisfies z.ZodType<ReturnType<typeof toSessionView>>,
);

export const connectSessionCreated = shape(
  () =>
    z
      .strictObject({
        ...sessionFields(),
        connectUrl: z
          .string()
          .describe("The URL to open in the end user's browser. It is returned only here."),
      })
      .meta({ id: "ConnectSessionCreated" }) satisfies z.ZodType<
      Awaited<ReturnType<typeof startConnectSession>>
    >,
);

/** Query parameters of the hosted page. */
export const pageFields = shape(() =>
  z.object({
    session: z.string().optional().describe("The session's id."),
    token: z.string().optional().describe("The secret part of `connectUrl`."),
    problem: z.string().optional().describe("Set by the page's own steps."),
    network: z.string().optional().describe("The network of the last step."),
    linked: z.string().optional().describe("The network that was just linked."),
    choice: z.string().optional().describe("The end user has to choose one of its accounts."),
  }),
);

/** Fields of the hosted page's forms. A network's form also has its own fields. */
export const formFields = shape(() =>
  z.object({
    session: z.string().optional(),
    token: z.string().optional(),
    action: z.enum(["done", "cancel"]).optional().describe("The last form's button."),
    way: z.enum(["other"]).optional().describe("The network's second form."),
    choice: z.string().optional().describe("The form that chooses one of several accounts."),
    candidate: z.string().optional().describe("The account that was chosen."),
  }),
);

/** Query parameters with which a network returns the browser (RFC 6749, 4.1.2). */
export const callbackFields = shape(() =>
  z.object({
    state: z.string().optional(),
    code: z.string().optional(),
    error: z.string().optional(),
    iss: z
      .string()
      .optional()
      .describe("RFC 9207: must be the server that the end user was sent to."),
  }),
);

export const applicationConnectionExample = (): ShapeOf<typeof applicationConnection> => ({
  ...connectionExample(),
  profile: { id: exampleId("profile"), title: "Corner Bakery" },
});

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
  scopes: ["atproto", "transition:generic"],
  missingScopes: [],
  unavailableFeatures: [],
  limits: { blobBytesMax: 50_000_000 },
  quota: null,
  expiresAt: null,
  lastUsedAt: "2026-03-04T10:00:02.000Z",
  lastError: null,
  createdAt: "2026-03-04T09:58:00.000Z",
  updatedAt: "2026-03-04T09:58:00.000Z",
});

export const connectBodyExample = (): z.input<ReturnType<typeof CreateConnectSessionBody>> => ({
  platforms: ["bluesky", "mastodon"],
  returnUrl: "https://app.example.com/social/done",
  state: "customer-42",
  branding: { name: "Planner", accentColor: "#1a73e8" },
});

export const connectSessionExample = (): ShapeOf<typeof connectSession> => ({
  id: exampleId("connectSession"),
  applicationId: exampleId("application"),
  profileId: exampleId("profile"),
  status: "completed",
  createdBy: { kind: "api_key", id: exampleId("key") },
  platforms: ["bluesky", "mastodon"],
  returnUrl: "https://app.example.com/social/done",
  state: "customer-42",
  branding: { name: "Planner", accentColor: "#1a73e8" },
  allowDisconnect: false,
  connections: [connectionExample()],
  expiresAt: "2026-03-04T11:00:00.000Z",
  createdAt: "2026-03-04T10:00:00.000Z",
});

export const sessionCreatedExample = (): ShapeOf<typeof connectSessionCreated> => ({
  ...connectSessionExample(),
  status: "open",
  connections: [],
  connectUrl: `https://relay.example.com/api/v1/connect/ui?session=${exampleId("connectSession")}&token=c2VjcmV0`,
});
