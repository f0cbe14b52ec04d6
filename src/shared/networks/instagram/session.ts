import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import type { HttpResponse } from "../../runtime/http-call.ts";
import { type ClassifiedAnswer, idShape } from "../contract/answers.ts";
import { ask, inForm } from "../contract/ask.ts";
import {
  SIXTY_DAYS,
  objectShape,
  scopesLacked,
  scopesShape,
  secondsShape,
  lenient,
} from "../contract/fields.ts";
import type { CredentialsOutcome, LimitsOutcome } from "../contract/outcome.ts";
import { renewalRejected, renewing } from "../contract/oauth.ts";
import type { NetworkData, Texts } from "../contract/draft.ts";
import { classify } from "./errors.ts";
import { type AsAccount, GRAPH, accessOf, steps } from "./state.ts";
import { graphGet } from "../graph/request.ts";
import type { AccountCheck } from "../contract/network.ts";

const DAY_MS = 24 * 3_600_000;
/** Younger tokens are not renewed. */
const AGE_MIN_MS = DAY_MS;
/** A token lasts for 60 days. Half of that leaves time for many tries. */
const HALF_LIFE_MS = 30 * DAY_MS;
/** With less left than this, a token could end during a call. */
const MARGIN_MS = 5 * 60_000;

export const SCOPES = ["instagram_business_basic", "instagram_business_content_publish"] as const;

const tokenShape = objectShape(() => ({
  access_token: z.string().min(1),
  expires_in: lenient(secondsShape(), SIXTY_DAYS),
  /** Listed when a token is renewed. */
  permissions: scopesShape(),
}));

export const readToken = inForm(tokenShape);

/** Returns what is kept of a token that was just issued. */
export function issuedAt(now: Date, { access_token, expires_in }: ShapeOf<typeof tokenShape>) {
  const expiresAt = new Date(now.getTime() + expires_in * 1000).toISOString();
  return { accessToken: access_token, issuedAt: now.toISOString(), expiresAt };
}

/**
 * Returns the address that issues or renews long-lived tokens. Both are documented without a version and take
 * everything in the query (https://developers.facebook.com/docs/instagram-platform/reference/refresh_access_token).
 */
export function tokenUrl(path: "access_token" | "refresh_access_token", query: Texts): string {
  return `${GRAPH}/${path}?${new URLSearchParams(query).toString()}`;
}

/** Renews a token at half its life, because one that has ended can't be renewed. */
export async function freshen(as: AsAccount): Promise<CredentialsOutcome> {
  const { credentials, tools } = as;
  const now = tools.now();
  const ageMs = now.getTime() - Date.parse(credentials.issuedAt);
  const leftMs = Date.parse(credentials.expiresAt) - now.getTime();
  if (leftMs <= 0)
    return renewalRejected("connection_needs_reauth", null, "the token can't be renewed any more");
  const isDue = ageMs >= AGE_MIN_MS && (leftMs < HALF_LIFE_MS || ageMs > HALF_LIFE_MS);
  // The old token still works, so this is tried again with the next post.
  return renewing({ isDue, isUsable: leftMs > MARGIN_MS }, () => refresh(as));
}

async function refresh({ credentials, tools }: AsAccount): Promise<CredentialsOutcome> {
  const query = { grant_type: "ig_refresh_token", access_token: credentials.accessToken };
  const request = { method: "GET", url: tokenUrl("refresh_access_token", query) } as const;
  const token = await ask(request, { read: readToken, classify: classifyRenewal }, tools);
  if ("failure" in token) return token;
  // A permission has been withdrawn since.
  const lacked = scopesLacked(SCOPES, token.permissions);
  if (lacked.length > 0)
    return renewalRejected("permission_missing", null, `without ${lacked.join(" ")}`);
  const renewed = { ...credentials, ...issuedAt(tools.now(), token) };
  return { kind: "refreshed", credentials: renewed, expiresAt: renewed.expiresAt };
}

/** Interprets a refused renewal. If it was about the request, publishing will show whether the token is valid. */
function classifyRenewal(answer: HttpResponse, now: Date): ClassifiedAnswer {
  const classified = classify(answer, now);
  const isAboutRequest = ["invalid_request", "app_misconfigured"].includes(classified.code);
  return isAboutRequest ? { ...classified, effect: "later" } : classified;
}

const answerShape = objectShape(() => ({
  data: z.tuple(
    [
      z.object({
        quota_usage: lenient(z.number().int().nonnegative()),
        config: z.object({ quota_total: z.number().int().positive() }),
      }),
    ],
    z.unknown(),
  ),
}));

/** Returns the number of posts that the account may publish in a day, which differs between accounts. */
export async function readLimits(as: AsAccount): Promise<LimitsOutcome> {
  const query = { fields: "quota_usage,config" };
  const path = `${as.credentials.userId}/content_publishing_limit`;
  const request = graphGet(accessOf(as), path, query);
  const answer = await ask(request, { read: inForm(answerShape), classify }, as.tools);
  if ("failure" in answer) return answer;
  const [{ quota_usage: used = 0, config }] = answer.data;
  const doubts = [
    ...(QUOTAS.includes(config.quota_total) ? [] : ["quota_total"]),
    // It then counts something that the relay doesn't, or more than it allows.
    ...(used > config.quota_total ? ["quota_usage"] : []),
  ];
  const limits = { postsPerDayMax: config.quota_total };
  return { kind: "read", limits, ...(doubts.length === 0 ? {} : { doubts }) };
}

/** 100 in the guide "Content Publishing", and 50 in the reference of `content_publishing_limit`. */
const QUOTAS: readonly number[] = [50, 100];

/** Returns the account's daily maximum, or undefined if it could not be read when the account was linked. */
export function postsPerDayMax(limits: NetworkData): number | undefined {
  return z.number().int().positive().safeParse(limits["postsPerDayMax"]).data;
}

/** The id that only this app has for an account. */
export const scopedIdShape = shape(() => lenient(idShape().pipe(z.string().regex(/^\d{1,40}$/))));

/** A token is renewed halfway through its life, so a daily check leaves a month for many tries. */
export const instagramAccountCheck: AccountCheck = {
  idleDaysMax: 0,
  readLimits: steps.checked(readLimits),
};
