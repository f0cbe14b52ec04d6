import { objectShape } from "../contract/fields.ts";
import * as z from "zod";
import type { ShapeOf } from "../../runtime/shape.ts";
import { type OwnLeg, ownSteps, readerOf } from "../contract/state.ts";
import { appOf, type NetworkTools } from "../contract/tools.ts";
import type { GraphAccess } from "../graph/request.ts";
import { FORMS } from "./rules.ts";

export const GRAPH = "https://graph.instagram.com";

const credentialsOf = readerOf(() => ({
  /** The professional account's own id. The app's own id for the account can't be used in paths. */
  userId: z.string(),
  accessToken: z.string(),
  /** How it was linked. Tokens of Facebook's login are used at another host. */
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
  /** Chosen when the leg is first prepared, together with the kinds of its files. */
  form: z.enum(FORMS).optional(),
  kinds: z.array(z.enum(["image", "video"])).default([]),
  /** A carousel's items, in the draft's order, as far as they are made. */
  children: z.array(containerShape()).default([]),
  /** The container to publish. */
  container: containerShape().optional(),
  /** How often containers were recently given up, and when last. */
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
