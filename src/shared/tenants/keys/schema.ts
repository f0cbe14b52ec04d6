import * as z from "zod";
import { actor } from "../../callers/caller.ts";
import { count, idOf, time } from "../../runtime/fields.ts";
import { exampleId } from "../../runtime/ids.ts";
import { pageQuery } from "../../runtime/page.ts";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import type { ProfileGrant } from "../profiles/grant.ts";
import { KEY_SCOPES, type KeyCreated, type KeyView } from "./key.ts";

const NAME_LENGTH_MAX = 80;
const ALLOWED_PROFILES_MAX = 500;

const profileId = shape(() =>
  z.string().regex(/^prf_[0-9A-Za-z]{1,60}$/, "must be a profile id (prf_…)"),
);

export const CreateKeyBody = shape(() =>
  z.strictObject({
    name: z.string().trim().max(NAME_LENGTH_MAX).optional(),
    expiresAt: z.iso
      .datetime({ offset: true })
      .nullish()
      .describe(
        "When the key expires, in the future. If absent or null, the key never expires. A key created with another key expires no later than that key, whose expiry is also the default.",
      ),
    scope: z
      .enum(KEY_SCOPES)
      .default("app_admin")
      .describe(
        "`app_admin`: every profile of the application. `restricted`: only the profiles on its allowlist.",
      ),
    allowedProfileIds: z
      .array(profileId())
      .max(ALLOWED_PROFILES_MAX)
      .default([])
      .describe("The profiles of a restricted key."),
    applicationId: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe(
        "For sessions, instead of X-Application-Id. A key always uses its own application.",
      ),
  }),
);
export type CreateKey = ShapeOf<typeof CreateKeyBody>;

export const RenameKeyBody = shape(() =>
  z.strictObject({
    name: z.string().trim().min(1).max(NAME_LENGTH_MAX),
  }),
);
export type RenameKey = ShapeOf<typeof RenameKeyBody>;

export const EndKeyQuery = shape(() =>
  z.strictObject({
    descendants: z
      .enum(["true", "false"])
      .default("false")
      .transform((value) => value === "true")
      .describe("Whether the keys that were created with it, directly or indirectly, end as well."),
  }),
);
export type EndKey = ShapeOf<typeof EndKeyQuery>;

export const ListKeysQuery = shape(() => z.strictObject(pageQuery()));
export type ListKeys = ShapeOf<typeof ListKeysQuery>;

export const MintGrantBody = shape(() =>
  z.strictObject({
    profileId: profileId(),
    expiresIn: z.int().min(60).max(7_200).default(900).describe("Seconds."),
  }),
);
export type MintGrant = ShapeOf<typeof MintGrantBody>;

const fields = shape(() => ({
  id: idOf("key"),
  applicationId: idOf("application"),
  name: z.string(),
  scope: z
    .enum(KEY_SCOPES)
    .describe(
      "`app_admin`: every profile of the application. `restricted`: only the profiles on its allowlist.",
    ),
  allowedProfileIds: z.array(z.string()),
  keyPrefix: z.string().describe("The beginning of the secret, to recognize it."),
  status: z.enum(["active", "revoked", "expired"]),
  expiresAt: time().nullable(),
  lastUsedAt: time().nullable().describe("Accurate to the minute."),
  createdAt: time(),
  createdBy: actor().describe("The key or person that created it."),
}));

export const apiKey = shape(
  () => z.strictObject(fields()).meta({ id: "ApiKey" }) satisfies z.ZodType<KeyView>,
);

export const apiKeyCreated = shape(
  () =>
    z
      .strictObject({
        ...fields(),
        secret: z.string().describe("It is returned only here."),
      })
      .meta({ id: "ApiKeyCreated" }) satisfies z.ZodType<KeyCreated>,
);

export const profileGrant = shape(
  () =>
    z
      .strictObject({
        token: z.string(),
        profileId: idOf("profile"),
        applicationId: idOf("application"),
        expiresIn: count().describe("Seconds."),
        expiresAt: time(),
        header: z.string().describe("The header in which to send the token."),
      })
      .meta({ id: "ProfileGrant" }) satisfies z.ZodType<ProfileGrant>,
);

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
