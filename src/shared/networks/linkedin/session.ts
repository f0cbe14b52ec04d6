import * as z from "zod";
import type { ClassifiedAnswer } from "../contract/answers.ts";
import { ask, type NetworkQuery, inForm } from "../contract/ask.ts";
import { digestOf, endedTokens } from "../contract/ended-token.ts";
import { formRequest, postForm, refusedRenewal } from "../contract/oauth.ts";
import { renewalRejected, renewing } from "../contract/oauth.ts";
import type { NetworkApp } from "../contract/settings.ts";
import {
  SIXTY_DAYS,
  objectShape,
  scopesLacked,
  scopesShape,
  secondsShape,
  lenient,
} from "../contract/fields.ts";
import type { CredentialsOutcome } from "../contract/outcome.ts";
import type { Texts } from "../contract/draft.ts";
import type { HttpRequest, HttpResponse } from "../../runtime/http-call.ts";
import { classify } from "./errors.ts";
import { OAUTH, clientOf } from "./request.ts";
import { COMMENT_SCOPES } from "./settings.ts";
import type { AsAccount, AuthorKind, Credentials, Tokens } from "./state.ts";

const DAY_MS = 24 * 3_600_000;
/** A token is renewed this long before its end, so that an outage of days does no harm. */
const FRESH_MS = 7 * DAY_MS;
/** With less than this left, a token could end during an upload. */
const USABLE_MS = 10 * 60_000;

export const SCOPES: Readonly<Record<AuthorKind, readonly string[]>> = {
  member: ["openid", "profile", "w_member_social"],
  organization: ["w_organization_social", "r_organization_social", "rw_organization_admin"],
};
export function kindOfScopes(scopes: readonly string[]): AuthorKind {
  return scopes.includes("w_organization_social") ? "organization" : "member";
}

function commentScopes(kind: AuthorKind, app: NetworkApp | undefined): readonly string[] {
  return COMMENT_SCOPES[kind].filter((name) => app?.extraScopes?.includes(name));
}

export function askedScopes(kind: AuthorKind, app: NetworkApp): readonly string[] {
  return [...SCOPES[kind], ...commentScopes(kind, app)];
}

/** Returns the scopes for comments that were requested but not granted. */
export function missingScopes(scopes: readonly string[], app: NetworkApp | undefined) {
  return scopesLacked(commentScopes(kindOfScopes(scopes), app), scopes);
}

/** Without these nothing can be published, or found again after a lost answer. */
export const NEEDED: Readonly<Record<AuthorKind, readonly string[]>> = {
  member: ["w_member_social"],
  organization: SCOPES.organization,
};

const tokenShape = objectShape(() => ({
  access_token: z.string().min(1),
  expires_in: lenient(secondsShape(), SIXTY_DAYS),
  scope: scopesShape(),
  refresh_token: lenient(z.string().min(1)),
  refresh_token_expires_in: lenient(secondsShape()),
}));

export interface Grant {
  readonly tokens: Tokens;
  /** Null when the answer names none, which means the requested ones. */
  readonly scopes: readonly string[] | null;
}

export function readGrant(answer: HttpResponse, now: Date): Grant | undefined {
  const issued = inForm(tokenShape)(answer);
  if (issued === undefined) return undefined;
  const { access_token, expires_in, scope, refresh_token, refresh_token_expires_in } = issued;
  const at = (seconds: number) => new Date(now.getTime() + seconds * 1000).toISOString();
  return {
    tokens: {
      accessToken: access_token,
      accessExpiresAt: at(expires_in),
      ...(refresh_token === undefined ? {} : { refreshToken: refresh_token }),
      ...(refresh_token_expires_in === undefined
        ? {}
        : { refreshExpiresAt: at(refresh_token_expires_in) }),
    },
    scopes: scope ?? null,
  };
}

/**
 * Returns when the account must be linked again. Renewing gives neither a new refresh token nor more time for this one.
 */
export function grantExpiry({ accessExpiresAt, refreshToken, refreshExpiresAt }: Tokens): string {
  if (refreshToken === undefined || refreshExpiresAt === undefined) return accessExpiresAt;
  return refreshExpiresAt > accessExpiresAt ? refreshExpiresAt : accessExpiresAt;
}

export async function freshen(as: AsAccount): Promise<CredentialsOutcome> {
  const { credentials, tools } = as;
  const isEnded = credentials.refreshToken !== undefined && (await ended.has(as));
  const leftMs = isEnded ? 0 : Date.parse(credentials.accessExpiresAt) - tools.now().getTime();
  const servesOn = (outcome: CredentialsOutcome) =>
    outcome.kind === "try_later" ||
    (outcome.kind === "rejected" && outcome.failure.code !== "permission_missing");
  return renewing(
    { isDue: leftMs < FRESH_MS, isUsable: leftMs > USABLE_MS, servesOn },
    async () => {
      if (!canRenew(as)) return renewalRejected("connection_needs_reauth", "EXPIRED_ACCESS_TOKEN");
      return renew(as);
    },
  );
}

function canRenew({ credentials, tools }: AsAccount): boolean {
  const { refreshToken, refreshExpiresAt } = credentials;
  if (refreshToken === undefined) return false;
  return refreshExpiresAt === undefined || Date.parse(refreshExpiresAt) > tools.now().getTime();
}

export function tokenRequest(
  { id, secret }: Pick<NetworkApp, "id" | "secret">,
  grant: Texts,
): HttpRequest {
  return formRequest(`${OAUTH}/accessToken`, { ...grant, client_id: id, client_secret: secret });
}

async function renew({ credentials, tools }: AsAccount): Promise<CredentialsOutcome> {
  const client = clientOf(credentials.kind, tools);
  if (client === undefined) return renewalRejected("app_misconfigured", null);
  const { refreshToken = "" } = credentials;
  const grant = { grant_type: "refresh_token", refresh_token: refreshToken };
  const read = (answer: HttpResponse) => readGrant(answer, tools.now());
  const asked = { read, classify: refusedRenewal(classify) };
  const issued = await ask(tokenRequest(client, grant), asked, tools);
  if ("failure" in issued) return issued;
  // A permission has been withdrawn since.
  const missing = scopesLacked(NEEDED[credentials.kind], issued.scopes ?? undefined);
  if (missing.length > 0) return renewalRejected("permission_missing", missing.join(" "));
  const renewed = { ...credentials, ...issued.tokens };
  return { kind: "refreshed", credentials: renewed, expiresAt: grantExpiry(renewed) };
}

const ended = endedTokens<Credentials>({
  // Others may have linked the same authorization.
  nameOf: ({ author, refreshToken = "" }) => `${author} ${digestOf(refreshToken)}`,
  tokenOf: ({ accessToken }) => accessToken,
});

/** Returns what an answer means for the holder of these credentials. A token that ended early is renewed at once. */
export async function classifyFor(answer: HttpResponse, as: AsAccount): Promise<ClassifiedAnswer> {
  const classified = classify(answer, as.tools.now());
  if (classified.code !== "connection_needs_reauth" || !canRenew(as)) return classified;
  const isRenewed = await ended.note(as);
  return isRenewed ? classified : { ...classified, code: "network_unavailable", effect: "at_once" };
}

export function askAs<Found>(
  request: HttpRequest,
  { read, mediaIndex }: Pick<NetworkQuery<Found>, "read" | "mediaIndex">,
  as: AsAccount,
) {
  const why = (answer: HttpResponse) => classifyFor(answer, as);
  return ask(request, { read, classify: why, mediaIndex }, as.tools);
}

/** Revokes the token. No document of LinkedIn's names this address, which behaves as in RFC 7009. */
export async function revoke({ credentials, tools }: AsAccount): Promise<void> {
  const { kind, accessToken } = credentials;
  const client = clientOf(kind, tools);
  if (client === undefined) return;
  await postForm(
    `${OAUTH}/revoke`,
    { client_id: client.id, client_secret: client.secret, token: accessToken },
    tools,
  );
}
