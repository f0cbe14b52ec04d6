import * as z from "zod";
import { pageQuery } from "../../runtime/page.ts";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { KEY_SCOPES } from "./key.ts";

const NAME_LENGTH_MAX = 80;
const ALLOWED_PROFILES_MAX = 500;

const profileId = shape(() => z.string().regex(/^prf_[0-9A-Za-z]{1,60}$/, "must be a profile id"));

export const CreateKeyBody = shape(() =>
  z.strictObject({
    name: z.string().trim().max(NAME_LENGTH_MAX).optional(),
    expiresAt: z.iso
      .datetime({ offset: true })
      .nullish()
      .describe(
        "In the future; null or absent: never. A key that a key makes ends with that at the latest: its expiry is the default and the limit.",
      ),
    scope: z
      .enum(KEY_SCOPES)
      .default("app_admin")
      .describe("`app_admin`: every profile of the application. `restricted`: the allowlist's."),
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
      .describe("For sessions, in place of X-Application-Id; a key's is its own."),
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
      .describe("Whether the keys that it made, and those that they made, end with it."),
  }),
);
export type EndKey = ShapeOf<typeof EndKeyQuery>;

export const ListKeysQuery = shape(() => z.strictObject(pageQuery()));
export type ListKeys = ShapeOf<typeof ListKeysQuery>;

export const MintGrantBody = shape(() =>
  z.strictObject({
    profileId: z.string().startsWith("prf_").max(64),
    expiresIn: z.int().min(60).max(7_200).default(900).describe("Seconds."),
  }),
);
export type MintGrant = ShapeOf<typeof MintGrantBody>;
