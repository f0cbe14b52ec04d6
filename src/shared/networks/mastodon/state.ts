import { createHash } from "node:crypto";
import * as z from "zod";
import type { HttpRequest } from "../../runtime/http-call.ts";
import { type OwnFollowUp, type OwnLeg, ownSteps, readerOf } from "../contract/state.ts";

const credentialsOf = readerOf(() => ({
  origin: z.string(),
  accessToken: z.string(),
  /** Stored with the token, because the host's registration may be another one when the token is revoked. */
  clientId: z.string(),
  clientSecret: z.string(),
  /** The server's software, from its nodeinfo. Absent if the server didn't state it. */
  software: z.string().optional(),
  /** For servers whose tokens end: the token for renewal, when to renew, and when the access token ends. */
  refreshToken: z.string().optional(),
  renewAt: z.iso.datetime().optional(),
  accessExpiresAt: z.iso.datetime().optional(),
}));
export type Credentials = ReturnType<typeof credentialsOf>;

const remoteOf = readerOf(() => ({
  idempotencyKey: z.string(),
  /** One per media item of the draft, in order, as far as they are uploaded. */
  media: z.array(
    z.object({
      id: z.string(),
      kind: z.enum(["image", "video", "audio"]),
      isReady: z.boolean(),
      /** Where the server stores the file, if it said so. */
      url: z.string().optional(),
    }),
  ),
  /** When files were last given up and uploaded again. */
  reuploadedAt: z.iso.datetime().optional(),
  /** Whether the server keeps idempotency keys. Absent until the first visible call is prepared. */
  keepsKeys: z.boolean().optional(),
  /** Absent when the server keeps keys, or doesn't list the account's posts. */
  before: z
    .object({
      /** The time of the newest post, by the server's clock, or null when there was none. */
      newestAt: z.iso.datetime().nullable(),
      ids: z.array(z.string()),
    })
    .optional(),
}));
export type Remote = ReturnType<typeof remoteOf>;
export type RemoteMedia = Remote["media"][number];
/** The account's newest posts as they were listed before the first visible call. */
export type Baseline = NonNullable<Remote["before"]>;

export const steps = ownSteps({ credentialsOf, remoteOf });
export type Leg = OwnLeg<Credentials, Remote>;
export type Call = OwnFollowUp<Credentials, Remote>;
export type AsAccount = Pick<Leg, "credentials" | "tools">;

/** Returns the idempotency key, which is the same for every attempt with the same content. */
export function begin(leg: { readonly key: string }): Remote {
  const idempotencyKey = createHash("sha256").update(`mastodon ${leg.key}`).digest("hex");
  return { idempotencyKey, media: [] };
}

interface Asker {
  readonly origin: string;
  /** Null for public data. */
  readonly accessToken: string | null;
}

/** Returns headers that make errors come in English, because the error table matches English ones. */
export function requestHeaders({ accessToken }: Pick<Asker, "accessToken">) {
  return {
    accept: "application/json",
    "accept-language": "en",
    ...(accessToken === null ? {} : { authorization: `Bearer ${accessToken}` }),
  };
}

export function apiGet({ origin, accessToken }: Asker, path: string): HttpRequest {
  const headers = requestHeaders({ accessToken });
  return { method: "GET", url: `${origin}/api/v1/${path}`, headers };
}
