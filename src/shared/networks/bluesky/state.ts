import { objectShape } from "../contract/fields.ts";
import { createHash } from "node:crypto";
import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import type { NetworkData } from "../contract/draft.ts";
import { type OwnFollowUp, type OwnLeg, ownSteps, readerOf } from "../contract/state.ts";

export const COLLECTION = "app.bsky.feed.post";

const remoteVideo = objectShape(() => ({
  jobId: z.string(),
  alt: z.string(),
  aspectRatio: z.object({ width: z.number(), height: z.number() }).nullable(),
  /** Made from an animated image. */
  isGif: z.boolean().optional(),
}));
/** A video that the video service works on, and how the post shows it. */
export type RemoteVideo = ShapeOf<typeof remoteVideo>;

const remoteOf = readerOf(() => ({
  rkey: z.string(),
  createdAt: z.string(),
  /** As it is sent, stored as a whole: a repeat is harmless only under the same key and with identical content. */
  record: z.record(z.string(), z.unknown()).optional(),
  video: remoteVideo().optional(),
  /** When the leg last started over because the network had lost uploads. */
  reuploadedAt: z.iso.datetime().optional(),
  /** What became of the picture that a link's page has for its card: the post can do without it. */
  foundPicture: z.enum(["sent", "left_out"]).optional(),
  /** When the video service last got the video again, because it could not process it. */
  remadeAt: z.iso.datetime().optional(),
}));
export type Remote = ReturnType<typeof remoteOf>;

/**
 * Returns the record's key and time. Two legs of one account that begin in the same millisecond differ by the clock id
 * and the microseconds, which derive from their keys.
 */
export function begin(leg: { readonly key: string; readonly now: Date }): Remote {
  const digest = createHash("sha256").update(leg.key).digest();
  const microseconds = BigInt(leg.now.getTime()) * 1000n + BigInt(digest.readUInt16BE(0) % 1000);
  return {
    rkey: timestampId(microseconds, digest.readUInt16BE(2) % 1024),
    createdAt: leg.now.toISOString(),
  };
}

const ALPHABET = "234567abcdefghijklmnopqrstuvwxyz";

/**
 * Returns a timestamp identifier: 53 bits of microseconds and 10 bits of clock id, in a form in which text order is
 * time order (https://atproto.com/specs/tid).
 */
export function timestampId(microseconds: bigint, clockId: number): string {
  const digits = ((microseconds << 10n) | BigInt(clockId)).toString(32).padStart(13, "0");
  return digits.replace(/./g, (digit) => ALPHABET.charAt(Number.parseInt(digit, 32)));
}

const common = shape(() => ({
  did: z.string(),
  /** Where the account's records are written. */
  pds: z.string(),
  accessExpiresAt: z.iso.datetime(),
}));

const passwordOf = readerOf(() => ({
  ...common(),
  /** Where the session was made and is renewed: the server itself, or the login host in front of it. */
  service: z.string(),
  accessJwt: z.string(),
  refreshJwt: z.string(),
}));
export type PasswordCredentials = ReturnType<typeof passwordOf>;

const privateKey = shape(() =>
  z.looseObject({ kty: z.literal("EC"), crv: z.literal("P-256"), d: z.string() }),
);

const sessionShape = objectShape(() => ({
  /** Every call is signed with it (RFC 9449). The tokens are worthless without it. */
  dpopJwk: privateKey(),
  authMethod: z.looseObject({ method: z.string() }),
  tokenSet: z.looseObject({
    iss: z.string(),
    sub: z.string().startsWith("did:"),
    aud: z.string(),
    scope: z.string(),
    access_token: z.string().min(1),
    refresh_token: z.string().optional(),
    token_type: z.literal("DPoP"),
    expires_at: z.string().optional(),
  }),
}));
/** The OAuth library's data about an authorization, in its own form. */
export type OAuthSessionData = ShapeOf<typeof sessionShape>;

const oauthOf = readerOf(() => ({
  ...common(),
  kind: z.literal("oauth"),
  /** The redirect address is part of a loopback client's name, so the session is renewed under it. */
  redirectUri: z.string(),
  session: sessionShape(),
}));
export type OAuthCredentials = ReturnType<typeof oauthOf>;

export type Credentials = PasswordCredentials | OAuthCredentials;

export function credentialsOf(data: NetworkData): Credentials {
  return data["kind"] === "oauth" ? oauthOf(data) : passwordOf(data);
}

export const steps = ownSteps({ credentialsOf, remoteOf });
export type Leg = OwnLeg<Credentials, Remote>;
export type Call = OwnFollowUp<Credentials, Remote>;
export type AsAccount = Pick<Leg, "credentials" | "tools">;

export function isOAuth(credentials: Credentials): credentials is OAuthCredentials {
  return "session" in credentials;
}

export function accessTokenOf(credentials: Credentials): string {
  return isOAuth(credentials) ? credentials.session.tokenSet.access_token : credentials.accessJwt;
}

/**
 * Identifies a session among others of the account, because each link opens its own and ends only its own. The id
 * derives from its first tokens, whose successors are of the same session.
 */
export function sessionIdOf(credentials: Credentials): string {
  const token = isOAuth(credentials)
    ? (credentials.session.tokenSet.refresh_token ?? credentials.session.tokenSet.access_token)
    : credentials.refreshJwt;
  return createHash("sha256").update(token).digest("hex");
}

/** Parses the library's session data, new or stored. Undefined if we can't work with it. */
export function readOAuthSession(data: unknown): OAuthSessionData | undefined {
  return sessionShape().safeParse(data).data;
}
