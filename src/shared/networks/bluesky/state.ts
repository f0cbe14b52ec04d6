import { createHash } from "node:crypto";
import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import type { NetworkData } from "../contract/network.ts";
import { timestampId } from "./tid.ts";

export const COLLECTION = "app.bsky.feed.post";

const remoteVideo = shape(() =>
  z.object({
    jobId: z.string(),
    alt: z.string(),
    aspectRatio: z.object({ width: z.number(), height: z.number() }).nullable(),
  }),
);
/** A video that the video service works on, and what the post says of it. */
export type RemoteVideo = ShapeOf<typeof remoteVideo>;

const remoteShape = shape(() =>
  z.object({
    rkey: z.string(),
    createdAt: z.string(),
    /** As it is sent: kept whole, because only a repeat with identical content is harmless. */
    record: z.record(z.string(), z.unknown()).optional(),
    video: remoteVideo().optional(),
    /** When the network's loss of uploads last made the leg start over. */
    reuploadedAt: z.iso.datetime().optional(),
  }),
);
export type Remote = ShapeOf<typeof remoteShape>;

export function remoteOf(data: NetworkData): Remote {
  return remoteShape().parse(data);
}

/**
 * The record's key and time. Two legs of one account that begin in the same millisecond still differ, by the clock id
 * and the microseconds that their keys give them.
 */
export function begin(leg: { readonly key: string; readonly now: Date }): Remote {
  const digest = createHash("sha256").update(leg.key).digest();
  const microseconds = BigInt(leg.now.getTime()) * 1000n + BigInt(digest.readUInt16BE(0) % 1000);
  return {
    rkey: timestampId(microseconds, digest.readUInt16BE(2) % 1024),
    createdAt: leg.now.toISOString(),
  };
}
