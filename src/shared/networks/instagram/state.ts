import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import type { GraphAccess } from "../graph/request.ts";
import type { NetworkData } from "../contract/draft.ts";
import { type NetworkTools, appOf } from "../contract/tools.ts";
import { FORMS } from "./rules.ts";

export const GRAPH = "https://graph.instagram.com";

const credentialsShape = shape(() =>
  z.object({
    /** The professional account's own id; the one that the app alone knows it by is of no use in paths. */
    userId: z.string(),
    accessToken: z.string(),
    /** How it was linked: what Facebook's log-in gives out is used at another host. */
    authVariant: z.literal("instagram_login"),
    issuedAt: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
  }),
);
export type Credentials = ShapeOf<typeof credentialsShape>;

const containerShape = shape(() =>
  z.object({
    id: z.string(),
    createdAt: z.iso.datetime(),
    isFinished: z.boolean(),
    /** An earlier call published it after all. */
    isPublished: z.boolean().optional(),
  }),
);
export type Container = ShapeOf<typeof containerShape>;

const remoteShape = shape(() =>
  z.object({
    /** Chosen when the leg is first prepared, and the kinds of its files with it. */
    form: z.enum(FORMS).optional(),
    kinds: z.array(z.enum(["image", "video"])).default([]),
    /** A carousel's items, in the draft's order, as far as they are made. */
    children: z.array(containerShape()).default([]),
    /** What is published. */
    container: containerShape().optional(),
    /** How often containers were given up lately, and when last. */
    restarts: z.number().int().default(0),
    restartedAt: z.iso.datetime().optional(),
  }),
);
export type Remote = ShapeOf<typeof remoteShape>;

export function credentialsOf(data: NetworkData): Credentials {
  return credentialsShape().parse(data);
}

export function remoteOf(data: NetworkData): Remote {
  return remoteShape().parse(data);
}

export function accessOf(
  { accessToken }: Pick<Credentials, "accessToken">,
  tools: NetworkTools,
): GraphAccess {
  return { origin: GRAPH, version: appOf(tools).version, token: accessToken };
}
