import * as z from "zod";
import { actor } from "../../callers/answer-schema.ts";
import { count, idOf, time } from "../../runtime/fields.ts";
import { shape } from "../../runtime/shape.ts";
import type { KeyCreated } from "./create-key.ts";
import { KEY_SCOPES, type KeyView } from "./key.ts";
import type { ProfileGrant } from "./mint-grant.ts";

const fields = shape(() => ({
  id: idOf("key"),
  applicationId: idOf("application"),
  name: z.string(),
  scope: z
    .enum(KEY_SCOPES)
    .describe("`app_admin`: every profile of the application. `restricted`: the allowlist's."),
  allowedProfileIds: z.array(z.string()),
  keyPrefix: z.string().describe("Enough of the secret to recognise it by."),
  status: z.enum(["active", "revoked", "expired"]),
  expiresAt: time().nullable(),
  lastUsedAt: time().nullable().describe("Right to the minute."),
  createdAt: time(),
  createdBy: actor()
    .nullable()
    .describe("The key or the person that made it; null where that was not kept yet."),
}));

export const apiKey = shape(
  () => z.strictObject(fields()).meta({ id: "ApiKey" }) satisfies z.ZodType<KeyView>,
);

export const apiKeyCreated = shape(
  () =>
    z
      .strictObject({
        ...fields(),
        secret: z.string().describe("In this answer and in no other."),
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
        header: z.string().describe("The header to send it in."),
      })
      .meta({ id: "ProfileGrant" }) satisfies z.ZodType<ProfileGrant>,
);
