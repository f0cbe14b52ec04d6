import { createHash } from "node:crypto";
import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import type { NetworkData } from "../contract/draft.ts";

const credentialsShape = shape(() =>
  z.object({
    origin: z.string(),
    accessToken: z.string(),
    /** Kept with the token: the registration of the host may be another one by the time it is revoked. */
    clientId: z.string(),
    clientSecret: z.string(),
    /** What the server runs, from its nodeinfo; absent where it did not tell, or was linked before it was asked. */
    software: z.string().optional(),
    /** Of servers whose tokens end: what renews the token, when, and when it ends. */
    refreshToken: z.string().optional(),
    renewAt: z.iso.datetime().optional(),
    accessExpiresAt: z.iso.datetime().optional(),
  }),
);
export type Credentials = ShapeOf<typeof credentialsShape>;

const mediaShape = shape(() =>
  z.object({
    id: z.string(),
    kind: z.enum(["image", "video", "audio"]),
    isReady: z.boolean(),
    /** Where the server keeps the file, if it said so. */
    url: z.string().optional(),
  }),
);
const baselineShape = shape(() =>
  z.object({
    /** The time of the newest of them, by the server's clock; null when there was none. */
    newestAt: z.iso.datetime().nullable(),
    ids: z.array(z.string()),
  }),
);
/** The account's newest posts as they were listed before the first visible call. */
export type Baseline = ShapeOf<typeof baselineShape>;

const remoteShape = shape(() =>
  z.object({
    idempotencyKey: z.string(),
    /** One per media item of the draft, in its order, as far as they are uploaded. */
    media: z.array(mediaShape()),
    /** When files were last given up and uploaded anew. */
    reuploadedAt: z.iso.datetime().optional(),
    /** Whether the server keeps idempotency keys; absent until the first visible call is prepared. */
    keepsKeys: z.boolean().optional(),
    /** Absent where the server keeps keys, or does not list the account's posts. */
    before: baselineShape().optional(),
  }),
);
export type Remote = ShapeOf<typeof remoteShape>;
export type RemoteMedia = ShapeOf<typeof mediaShape>;

export function credentialsOf(data: NetworkData): Credentials {
  return credentialsShape().parse(data);
}

export function remoteOf(data: NetworkData): Remote {
  return remoteShape().parse(data);
}

/**
 * Returns the idempotency key, the same for every attempt at the same content. The server answers a repeat within the
 * hour with the first post.
 */
export function begin(leg: { readonly key: string }): Remote {
  const idempotencyKey = createHash("sha256").update(`mastodon ${leg.key}`).digest("hex");
  return { idempotencyKey, media: [] };
}

/** Sentences of errors are localised; ours are matched in English. */
export function requestHeaders(credentials: Pick<Credentials, "accessToken"> | null) {
  return {
    accept: "application/json",
    "accept-language": "en",
    ...(credentials === null ? {} : { authorization: `Bearer ${credentials.accessToken}` }),
  };
}
