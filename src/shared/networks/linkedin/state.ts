import * as z from "zod";
import type { NetworkData } from "../network.ts";

const kindShape = z.enum(["member", "organization"]);
export type AuthorKind = z.infer<typeof kindShape>;

const credentialsShape = z.object({
  /** In whose name is posted, as a URN. */
  author: z.string(),
  /** Also tells which of the relay's two apps the tokens belong to. */
  kind: kindShape,
  accessToken: z.string(),
  accessExpiresAt: z.iso.datetime(),
  /** Of apps that LinkedIn approved for it. */
  refreshToken: z.string().optional(),
  refreshExpiresAt: z.iso.datetime().optional(),
});
export type Credentials = z.infer<typeof credentialsShape>;

const partShape = z.object({
  url: z.string(),
  firstByte: z.number().int().nonnegative(),
  lastByte: z.number().int().nonnegative(),
  /** The network's receipt of the part. */
  etag: z.string().optional(),
});
export type UploadPart = z.infer<typeof partShape>;

const uploadShape = z.object({
  token: z.string(),
  bytes: z.number().int(),
  /** Which version of the file the parts are of, where its server tells. */
  version: z.string().nullable().optional(),
  parts: z.array(partShape),
});
export type Upload = z.infer<typeof uploadShape>;

const assetShape = z.object({
  urn: z.string(),
  kind: z.enum(["image", "video", "document"]),
  isReady: z.boolean(),
  /** Of a video some of whose parts are still missing. */
  upload: uploadShape.optional(),
});
export type Asset = z.infer<typeof assetShape>;

const remoteShape = z.object({
  /** One per file of the draft, in its order, as far as they are there. */
  assets: z.array(assetShape),
  /** Whether an earlier call may have made the post: a duplicate is then the post itself. */
  isRepeat: z.boolean(),
  /** Calls that may have made the post, as far as they were lived to see. */
  doubts: z.number().int().nonnegative(),
  /** When files were last given up and uploaded anew. */
  reuploadedAt: z.iso.datetime().optional(),
});
export type Remote = z.infer<typeof remoteShape>;

export function credentialsOf(data: NetworkData): Credentials {
  return credentialsShape.parse(data);
}

export function remoteOf(data: NetworkData): Remote {
  return remoteShape.parse(data);
}

export function begin(): Remote {
  return { assets: [], isRepeat: false, doubts: 0 };
}

const limitsShape = z.object({ kind: kindShape });

/** Undefined when the account is not known. */
export function authorKindOf(limits: NetworkData): AuthorKind | undefined {
  return limitsShape.safeParse(limits).data?.kind;
}
