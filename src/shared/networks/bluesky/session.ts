import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { exchange, unanswered, unpublished } from "../contract/classified.ts";
import type { CredentialsOutcome, NetworkData, NetworkTools } from "../contract/network.ts";
import type { HttpResponse } from "../../runtime/http-call.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { credentialsOf, isOAuth, type PasswordCredentials } from "./credentials.ts";
import { forgetEndedToken, isTokenEnded } from "./ended-token.ts";
import { classify, xrpcError } from "./errors.ts";
import { endOAuth, renewOAuth } from "./oauth-session.ts";

/** Renewed when less than this is left, so that no upload runs into the end of its token. */
const FRESH_MS = 5 * 60_000;
/** A token without a readable end is taken to last this long: shorter than any server's. */
const UNKNOWN_LIFE_MS = 30 * 60_000;

const sessionShape = shape(() =>
  z.object({
    did: z.string().startsWith("did:"),
    handle: z.string(),
    accessJwt: z.string().min(1),
    refreshJwt: z.string().min(1),
    active: z.boolean().optional(),
    status: z.string().optional(),
  }),
);
export type Session = ShapeOf<typeof sessionShape>;

export function readSession(response: HttpResponse): Session | undefined {
  const parsed = sessionShape().safeParse(response.json());
  return response.status === 200 && parsed.success ? parsed.data : undefined;
}

export function accessExpiry(accessJwt: string, now: Date): string {
  return (expiryOf(accessJwt) ?? new Date(now.getTime() + UNKNOWN_LIFE_MS)).toISOString();
}

/** When the account must be linked again at the latest, if nothing renews the session before. */
export function sessionExpiry(refreshJwt: string): string | null {
  return expiryOf(refreshJwt)?.toISOString() ?? null;
}

function expiryOf(jwt: string): Date | undefined {
  const claims = z.object({ exp: z.number().int().positive().max(8_000_000_000) });
  try {
    const payload: unknown = JSON.parse(
      Buffer.from(jwt.split(".")[1] ?? "", "base64url").toString(),
    );
    const parsed = claims.safeParse(payload);
    return parsed.success ? new Date(parsed.data.exp * 1000) : undefined;
  } catch {
    // Tokens are opaque to a client: one that is no JWT is as good.
    return undefined;
  }
}

/** Never logs in: the network allows few log-ins a day, and the password is not kept. */
export async function freshen(data: NetworkData, tools: NetworkTools): Promise<CredentialsOutcome> {
  const credentials = credentialsOf(data);
  const hasEnded = await isTokenEnded(credentials, tools);
  const leftMs = hasEnded ? 0 : Date.parse(credentials.accessExpiresAt) - tools.now().getTime();
  if (leftMs >= FRESH_MS) return { kind: "usable" };
  const outcome = isOAuth(credentials)
    ? await renewOAuth(credentials, tools)
    : await renewPassword(credentials, tools);
  if (hasEnded && outcome.kind === "refreshed") await forgetEndedToken(credentials, tools);
  // The old token still works: a short outage of the log-in host need not delay anything.
  const isUsableAnyway = outcome.kind === "try_later" && leftMs > FRESH_MS / 5;
  return isUsableAnyway ? { kind: "usable" } : outcome;
}

async function renewPassword(
  credentials: PasswordCredentials,
  tools: NetworkTools,
): Promise<CredentialsOutcome> {
  const answer = await exchange(tools, {
    method: "POST",
    url: `${credentials.service}/xrpc/com.atproto.server.refreshSession`,
    headers: { authorization: `Bearer ${credentials.refreshJwt}` },
  });
  return readRefresh(answer, credentials, tools.now());
}

function readRefresh(
  answer: HttpResponse | HttpFailure,
  credentials: PasswordCredentials,
  now: Date,
): CredentialsOutcome {
  if (answer instanceof HttpFailure) return unanswered(answer);
  const session = readSession(answer);
  if (session === undefined) return readRefusedRefresh(answer, now);
  if (session.did !== credentials.did) return needsReauth("another account answered");
  const { accessJwt, refreshJwt } = session;
  return {
    kind: "refreshed",
    credentials: {
      ...credentials,
      accessJwt,
      refreshJwt,
      accessExpiresAt: accessExpiry(accessJwt, now),
    },
    expiresAt: sessionExpiry(refreshJwt),
  };
}

function readRefusedRefresh(answer: HttpResponse, now: Date): CredentialsOutcome {
  const networkCode = xrpcError(answer)?.error ?? null;
  // Of the refresh token itself, so there is nothing left to renew with.
  if (networkCode === "ExpiredToken" || networkCode === "InvalidToken") {
    return needsReauth(null, networkCode);
  }
  return unpublished(classify(answer, now));
}

function needsReauth(note: string | null, networkCode: string | null = null): CredentialsOutcome {
  return {
    kind: "rejected",
    failure: {
      code: "connection_needs_reauth",
      networkCode,
      ...(note === null ? {} : { note }),
    },
  };
}

export async function revoke(data: NetworkData, tools: NetworkTools): Promise<void> {
  const credentials = credentialsOf(data);
  if (isOAuth(credentials)) return await endOAuth(credentials, tools);
  const { service, refreshJwt } = credentials;
  await exchange(tools, {
    method: "POST",
    url: `${service}/xrpc/com.atproto.server.deleteSession`,
    headers: { authorization: `Bearer ${refreshJwt}` },
  });
}
