import * as z from "zod";
import { type OwnFollowUp, type OwnLeg, ownSteps, readerOf } from "../contract/state.ts";
import { appOf, type NetworkTools } from "../contract/tools.ts";
import { type GraphAccess, secretProof } from "../graph/request.ts";
import { FORMS } from "./rules.ts";

const credentialsOf = readerOf(() => ({
  userId: z.string(),
  /** Revokes what the person allowed, which the page's own token can't. */
  userToken: z.string(),
  pageId: z.string(),
  pageToken: z.string(),
}));
export type Credentials = ReturnType<typeof credentialsOf>;

export const remoteOf = readerOf(() => ({
  /** Chosen when the leg is first prepared. */
  form: z.enum(FORMS).optional(),
  /** Unpublished photos, one per media item of the draft, in order, as far as they are made. */
  photos: z.array(z.string()).default([]),
  /** When the first of them was made. */
  photosSince: z.iso.datetime().optional(),
  video: z
    .object({
      id: z.string(),
      uploadUrl: z.string(),
      /** When Facebook got the file's address. The video's status shows Facebook's progress. */
      handedOverAt: z.iso.datetime().optional(),
    })
    .optional(),
  /** When a video was last given up and begun again. */
  restartedAt: z.iso.datetime().optional(),
  /** The answer of the visible call for a video that Facebook is still processing. */
  postedVideoId: z.string().optional(),
}));
export type Remote = ReturnType<typeof remoteOf>;

export const steps = ownSteps({ credentialsOf, remoteOf });
export type Leg = OwnLeg<Credentials, Remote>;
export type Call = OwnFollowUp<Credentials, Remote>;
export type AsAccount = Pick<Leg, "credentials" | "tools">;

export function accessFor(token: string, tools: NetworkTools): GraphAccess {
  const app = appOf(tools);
  const proof = secretProof(token, app);
  return { origin: "https://graph.facebook.com", version: app.version, token, proof, tools };
}

export function appAccess(tools: NetworkTools): GraphAccess {
  const { id, secret } = appOf(tools);
  return accessFor(`${id}|${secret}`, tools);
}

export function pageOf({ credentials, tools }: AsAccount): GraphAccess {
  return accessFor(credentials.pageToken, tools);
}
