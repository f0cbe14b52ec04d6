import * as z from "zod";
import { type OwnFollowUp, type OwnLeg, ownSteps, readerOf } from "../contract/state.ts";
import { appOf, type NetworkTools } from "../contract/tools.ts";
import { type GraphAccess, secretProof } from "../graph/request.ts";
import { FORMS } from "./rules.ts";

const credentialsOf = readerOf(() => ({
  userId: z.string(),
  /** Ends what the person allowed; the page's own token can't. */
  userToken: z.string(),
  pageId: z.string(),
  pageToken: z.string(),
}));
export type Credentials = ReturnType<typeof credentialsOf>;

export const remoteOf = readerOf(() => ({
  /** Chosen when the leg is first prepared. */
  form: z.enum(FORMS).optional(),
  /** Unpublished photos, one per media item of the draft, in its order, as far as they are made. */
  photos: z.array(z.string()).default([]),
  /** When the first of them was made. */
  photosSince: z.iso.datetime().optional(),
  video: z
    .object({
      id: z.string(),
      uploadUrl: z.string(),
      /** Time at which Facebook got the file's address. The video's status says how far Facebook is. */
      handedOverAt: z.iso.datetime().optional(),
    })
    .optional(),
  /** When a video was last given up and begun again. */
  restartedAt: z.iso.datetime().optional(),
  /** What the visible call answered for a video that Facebook still works on. */
  postedVideoId: z.string().optional(),
}));
export type Remote = ReturnType<typeof remoteOf>;

export const steps = ownSteps({ credentialsOf, remoteOf });
export type Leg = OwnLeg<Credentials, Remote>;
export type Call = OwnFollowUp<Credentials, Remote>;
export type AsAccount = Pick<Leg, "credentials" | "tools">;

/** Returns access to the Graph API as the token's owner. */
export function accessFor(token: string, tools: NetworkTools): GraphAccess {
  const app = appOf(tools);
  const proof = secretProof(token, app);
  return { origin: "https://graph.facebook.com", version: app.version, token, proof, tools };
}

/** Returns access to the Graph API as the app itself. */
export function appAccess(tools: NetworkTools): GraphAccess {
  const { id, secret } = appOf(tools);
  return accessFor(`${id}|${secret}`, tools);
}

/** Returns access to the Graph API as the page. */
export function pageOf({ credentials, tools }: AsAccount): GraphAccess {
  return accessFor(credentials.pageToken, tools);
}
