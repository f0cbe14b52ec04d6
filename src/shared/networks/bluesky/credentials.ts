import { createHash } from "node:crypto";
import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import type { NetworkData } from "../contract/network.ts";

const common = shape(() => ({
  did: z.string(),
  /** Where the account's records are written. */
  pds: z.string(),
  accessExpiresAt: z.iso.datetime(),
}));

const passwordShape = shape(() =>
  z.object({
    ...common(),
    /** Where the session was made and is renewed: the server itself, or the log-in host in front of it. */
    service: z.string(),
    accessJwt: z.string(),
    refreshJwt: z.string(),
  }),
);
/** A session that an app password opened. */
export type PasswordCredentials = ShapeOf<typeof passwordShape>;

const privateKey = shape(() =>
  z.looseObject({ kty: z.literal("EC"), crv: z.literal("P-256"), d: z.string() }),
);

const sessionShape = shape(() =>
  z.object({
    /** Every call is signed with it (RFC 9449): the tokens are worth nothing without. */
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
  }),
);
/** What the OAuth library keeps of an authorisation, as it wants it back. */
export type OAuthSessionData = ShapeOf<typeof sessionShape>;

const oauthShape = shape(() =>
  z.object({
    ...common(),
    kind: z.literal("oauth"),
    /** The redirect address is part of a loopback client's name, so the session is renewed under it. */
    redirectUri: z.string(),
    session: sessionShape(),
  }),
);
export type OAuthCredentials = ShapeOf<typeof oauthShape>;

export type Credentials = PasswordCredentials | OAuthCredentials;

export function credentialsOf(data: NetworkData): Credentials {
  return data["kind"] === "oauth" ? oauthShape().parse(data) : passwordShape().parse(data);
}

export function isOAuth(credentials: Credentials): credentials is OAuthCredentials {
  return "session" in credentials;
}

export function accessTokenOf(credentials: Credentials): string {
  return isOAuth(credentials) ? credentials.session.tokenSet.access_token : credentials.accessJwt;
}

/**
 * Tells a session from others of the account: each link opens one of its own, and ends none but its own. By its first
 * tokens, whose successors are of the same session.
 */
export function sessionIdOf(credentials: Credentials): string {
  const token = isOAuth(credentials)
    ? (credentials.session.tokenSet.refresh_token ?? credentials.session.tokenSet.access_token)
    : credentials.refreshJwt;
  return createHash("sha256").update(token).digest("hex");
}

/** The library's own data, as it came or after it was stored; undefined when it is not what we can work with. */
export function readOAuthSession(data: unknown): OAuthSessionData | undefined {
  return sessionShape().safeParse(data).data;
}
