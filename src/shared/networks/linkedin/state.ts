import { objectShape } from "../contract/fields.ts";
import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import type { NetworkData } from "../contract/draft.ts";
import { type OwnFollowUp, type OwnLeg, ownSteps, readerOf } from "../contract/state.ts";

export const kindShape = shape(() => z.enum(["member", "organization"]));
export type AuthorKind = ShapeOf<typeof kindShape>;

const tokenFields = () => ({
  accessToken: z.string(),
  accessExpiresAt: z.iso.datetime(),
  /** Only for apps that LinkedIn approved for it. */
  refreshToken: z.string().optional(),
  refreshExpiresAt: z.iso.datetime().optional(),
});
export const tokensShape = objectShape(tokenFields);
export type Tokens = ShapeOf<typeof tokensShape>;

const credentialsOf = readerOf(() => ({
  ...tokenFields(),
  /** The author of posts, as a URN. */
  author: z.string(),
  /** Also tells which of the relay's two apps the tokens belong to. */
  kind: kindShape(),
}));
export type Credentials = ReturnType<typeof credentialsOf>;

const partShape = objectShape(() => ({
  url: z.string(),
  firstByte: z.number().int().nonnegative(),
  lastByte: z.number().int().nonnegative(),
  /** The network's receipt of the part. */
  etag: z.string().optional(),
}));
export type UploadPart = ShapeOf<typeof partShape>;

const assetShape = objectShape(() => ({
  urn: z.string(),
  kind: z.enum(["image", "video", "document"]),
  isReady: z.boolean(),
  /** What its server calls a document. */
  name: z.string().optional(),
  /** The upload of a video of which some parts are still missing. */
  upload: z
    .object({
      token: z.string(),
      bytes: z.number().int(),
      /** The version of the file that the parts are from. */
      version: z.string(),
      parts: z.array(partShape()),
    })
    .optional(),
}));
export type Asset = ShapeOf<typeof assetShape>;
export type Upload = NonNullable<Asset["upload"]>;

const remoteOf = readerOf(() => ({
  /** One per file of the draft, in order, as far as they exist. */
  assets: z.array(assetShape()),
  /** Whether an earlier call may have made the post. A duplicate is then the post itself. */
  isRepeat: z.boolean(),
  /** Number of calls that may have made the post, as far as their process survived. */
  doubts: z.number().int().nonnegative(),
  /** How often LinkedIn refused the post because a file was not ready. */
  notReady: z.number().int().nonnegative().optional(),
  /** When files were last given up and uploaded again. */
  reuploadedAt: z.iso.datetime().optional(),
}));
export type Remote = ReturnType<typeof remoteOf>;

export const steps = ownSteps({ credentialsOf, remoteOf });
export type Leg = OwnLeg<Credentials, Remote>;
export type Call = OwnFollowUp<Credentials, Remote>;
export type AsAccount = Pick<Leg, "credentials" | "tools">;

export function begin(): Remote {
  return { assets: [], isRepeat: false, doubts: 0 };
}

/** Returns the kind of author, or undefined if the account is not known. */
export function authorKindOf(limits: NetworkData): AuthorKind | undefined {
  return z.object({ kind: kindShape() }).safeParse(limits).data?.kind;
}
