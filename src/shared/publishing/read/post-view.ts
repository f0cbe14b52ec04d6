import type { Connection } from "../../connections/connections.ts";
import { LEG_ERRORS, type LegErrorCode } from "../../networks/contract/errors.ts";
import type { Locale } from "../../runtime/locale.ts";
import { withDocUrl } from "../../runtime/doc-url.ts";
import { type Call, isFinal } from "../call.ts";
import { isEnded, latestCall, type Leg, legStatusOf } from "../leg.ts";
import type { PostWithLegs } from "../post-store.ts";
import { firstCommentOf, type Draft } from "../post.ts";
import { inWords, type FindingReader } from "../../networks/wording.ts";

/** Failures that a retry can only fix after the account was linked again. */
const NEEDS_CONNECTION: ReadonlySet<LegErrorCode> = new Set([
  "connection_missing",
  "connection_needs_reauth",
  "permission_missing",
  "account_restricted",
]);

function isRetryAvailable(leg: Leg, connection: Connection | undefined): boolean {
  const [{ error }] = leg.calls;
  if (legStatusOf(leg) !== "failed" || error === null) return false;
  if (NEEDS_CONNECTION.has(error.code)) return connection?.status === "active";
  // A file that was uploaded here and can't be used is uploaded again under another address.
  const isGone = error.code === "media_unreachable" && /\.file\.\w+$/.test(error.rule ?? "");
  return !isGone && LEG_ERRORS[error.code].retryable;
}

/** Reports whether `retryAvailable` of the post depends on the connections. */
export function dependsOnConnections({ legs }: PostWithLegs): boolean {
  return legs.some(({ calls: [{ error }] }) => error !== null && NEEDS_CONNECTION.has(error.code));
}

export type PostView = ReturnType<typeof postView>;

export function legRecord(
  draft: Draft,
  leg: Leg,
  connection: Connection | undefined,
  locale: Locale = "en",
) {
  const [{ state, result, at, attempts, lastAttemptAt, error }] = leg.calls;
  const comment = latestCall(leg, "comment");
  const reading = { network: leg.network, locale };
  const isAwaited = !isEnded(leg) && firstCommentOf(draft, leg.network) !== null;
  return {
    platform: leg.network,
    status: legStatusOf(leg),
    connectionId: leg.connectionId,
    account: leg.account && { ...leg.account, url: leg.account.url || null },
    networkPostId: result?.externalId ?? null,
    url: result?.url ?? null,
    publishedAt: state === "done" ? at : null,
    attempts,
    lastAttemptAt,
    nextAttemptAt: isEnded(leg) ? null : leg.notBefore,
    error: error && inWords(error, reading),
    retryAvailable: isRetryAvailable(leg, connection),
    warnings: leg.warnings.map((warning) => inWords(warning, reading)),
    tokensCharged: leg.tokensSettled,
    firstComment: comment === undefined && !isAwaited ? null : commentRecord(reading, comment),
    removal: removalRecord(reading, latestCall(leg, "remove")),
  };
}

/** Shows the first comment. It is pending before the leg is published. */
function commentRecord(reading: FindingReader, { state, result, at, error }: Partial<Call> = {}) {
  const ended = state === "failed" || state === "unknown" ? state : "pending";
  return {
    status: state === "done" ? "succeeded" : ended,
    networkCommentId: result?.externalId ?? null,
    url: result?.url ?? null,
    at: at ?? null,
    error: error ? inWords(error, { ...reading, call: "comment" }) : null,
  } as const;
}

function removalRecord(reading: FindingReader, call: Call | undefined) {
  if (call === undefined) return null;
  const { state, requestedAt, at, error } = call;
  const ended = error?.code === "feature_unsupported" ? "unsupported" : "failed";
  const status = state === "done" ? "removed" : isFinal(call) ? ended : "pending";
  const said = error && inWords(error, { ...reading, call: "remove" });
  return { status, requestedAt, at, error: said } as const;
}

/** Adds the link that explains the error. */
function explained<
  Found extends { readonly code: string },
  Of extends { readonly error: Found | null },
>(of: Of, baseUrl: string) {
  return { ...of, error: of.error === null ? null : withDocUrl(of.error, baseUrl) };
}

/** Returns a post as its events store it. `connections` of the profile are needed if `retryAvailable` needs them. */
export function postRecord(
  { post, legs }: PostWithLegs,
  connections: readonly Connection[] = [],
  locale: Locale = "en",
) {
  const { draft } = post;
  const sum = (amount: (leg: Leg) => number) => legs.reduce((total, leg) => total + amount(leg), 0);
  return {
    id: post.id,
    applicationId: post.applicationId,
    profileId: post.profileId,
    status: post.status,
    text: draft.text,
    platforms: draft.networks,
    mediaUrls: draft.mediaUrls,
    altTexts: draft.altTexts,
    platformOptions: draft.platformOptions,
    scheduleAt: draft.scheduleAt,
    externalId: draft.externalId,
    metadata: draft.metadata,
    legs: legs.map((leg) =>
      legRecord(
        draft,
        leg,
        connections.find(({ network }) => network === leg.network),
        locale,
      ),
    ),
    tokens: {
      reserved: sum(({ reservation }) => (reservation.state === "open" ? reservation.tokens : 0)),
      charged: sum((leg) => leg.tokensSettled),
      released: sum((leg) => leg.tokensReleased),
    },
    requestId: post.requestId,
    createdAt: post.createdAt,
    updatedAt: post.updatedAt,
    startedAt: post.startedAt,
    completedAt: post.completedAt,
  };
}

/** Returns a post as its owner sees it. `baseUrl` is the relay's own, where the codes of errors are explained. */
export function postView(
  found: PostWithLegs,
  baseUrl: string,
  connections: readonly Connection[] = [],
  locale?: Locale,
) {
  const record = postRecord(found, connections, locale);
  const legs = record.legs.map((leg) => {
    const { firstComment, removal } = leg;
    return {
      ...explained(leg, baseUrl),
      warnings: leg.warnings.map((warning) => withDocUrl(warning, baseUrl)),
      firstComment: firstComment && explained(firstComment, baseUrl),
      removal: removal && explained(removal, baseUrl),
    };
  });
  return { ...record, legs };
}
