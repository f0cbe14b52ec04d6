import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import type { NetworkData } from "../contract/draft.ts";

const kindShape = shape(() => z.enum(["member", "organization"]));
export type AuthorKind = ShapeOf<typeof kindShape>;

const credentialsShape = shape(() =>
  z.object({
    /** In whose name is posted, as a URN. */
    author: z.string(),
    /** Also tells which of the relay's two apps the tokens belong to. */
    kind: kindShape(),
    accessToken: z.string(),
    accessExpiresAt: z.iso.datetime(),
    /** Of apps that LinkedIn approved for it. */
    refreshToken: z.string().optional(),
    refreshExpiresAt: z.iso.datetime().optional(),
  }),
);
export type Credentials = ShapeOf<typeof credentialsShape>;

const partShape = shape(() =>
  z.object({
    url: z.string(),
    firstByte: z.number().int().nonnegative(),
    lastByte: z.number().int().nonnegative(),
    /** The network's receipt of the part. */
    etag: z.string().optional(),
  }),
);
export type UploadPart = ShapeOf<typeof partShape>;

const uploadShape = shape(() =>
  z.object({
    token: z.string(),
    bytes: z.number().int(),
    /** Which version of the file the parts are of, where its server tells. */
    version: z.string().nullable().optional(),
    parts: z.array(partShape()),
  }),
);
export type Upload = ShapeOf<typeof uploadShape>;

const assetShape = shape(() =>
  z.object({
    urn: z.string(),
    kind: z.enum(["image", "video", "document"]),
    isReady: z.boolean(),
    /** Of a video some of whose parts are still missing. */
    upload: uploadShape().optional(),
  }),
);
export type Asset = ShapeOf<typeof assetShape>;

const remoteShape = shape(() =>
  z.object({
    /** One per file of the draft, in its order, as far as they are there. */
    assets: z.array(assetShape()),
    /** Whether an earlier call may have made the post: a duplicate is then the post itself. */
    isRepeat: z.boolean(),
    /** Calls that may have made the post, as far as they were lived to see. */
    doubts: z.number().int().nonnegative(),
    /** How often LinkedIn refused the post because a file was not ready. */
    notReady: z.number().int().nonnegative().optional(),
    /** When files were last given up and uploaded anew. */
    reuploadedAt: z.iso.datetime().optional(),
  }),
);
export type Remote = ShapeOf<typeof remoteShape>;

export function credentialsOf(data: NetworkData): Credentials {
  return credentialsShape().parse(data);
}

export function remoteOf(data: NetworkData): Remote {
  return remoteShape().parse(data);
}

export function begin(): Remote {
  return { assets: [], isRepeat: false, doubts: 0 };
}

const limitsShape = shape(() => z.object({ kind: kindShape() }));

/** Returns the kind of author; undefined if the account is not known. */
export function authorKindOf(limits: NetworkData): AuthorKind | undefined {
  return limitsShape().safeParse(limits).data?.kind;
}
