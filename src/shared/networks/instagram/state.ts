import { objectShape } from "../contract/fields.ts";
import * as z from "zod";
import type { ShapeOf } from "../../runtime/shape.ts";
import { type OwnLeg, ownSteps, readerOf } from "../contract/state.ts";
import { appOf, type NetworkTools } from "../contract/tools.ts";
import type { GraphAccess } from "../graph/request.ts";
import { FORMS } from "./rules.ts";

export const GRAPH = "https://graph.instagram.com";

const credentialsOf = readerOf(() => ({
  /** The professional account's own id; the one that the app alone knows it by is of no use in paths. */
  userId: z.string(),
  accessToken: z.string(),
  /** How it was linked: what Facebook's log-in gives out is used at another host. */
  authVariant: z.literal("instagram_login"),
  issuedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
}));
export type Credentials = ReturnType<typeof credentialsOf>;

const containerShape = objectShape(() => ({
  id: z.string(),
  createdAt: z.iso.datetime(),
  isReady: z.boolean(),
  /** An earlier call published it after all. */
  isPublished: z.boolean().optional(),
}));
export type Container = ShapeOf<typeof containerShape>;

export const remoteOf = readerOf(() => ({
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
}));
export type Remote = ReturnType<typeof remoteOf>;

export const steps = ownSteps({ credentialsOf, remoteOf });
export type Leg = OwnLeg<Credentials, Remote>;

export type AsAccount = Pick<Leg, "credentials" | "tools">;

export function accessOf({ credentials, tools }: AsHolder): GraphAccess {
  const { version } = appOf(tools);
  return { origin: GRAPH, version, token: credentials.accessToken, tools };
}

interface AsHolder {
  readonly credentials: Pick<Credentials, "accessToken">;
  readonly tools: NetworkTools;
}
