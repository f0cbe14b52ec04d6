import type { Actor } from "../callers/caller.ts";
import type { Operation } from "../billing/rate-card.ts";
import type { NetworkData } from "../networks/contract/network.ts";
import type { NetworkName } from "../networks/lookup.ts";
import { originProperties } from "../runtime/telemetry/origin.ts";
import {
  fromChunks,
  numberOf,
  textOf,
  textOrNull,
  toChunks,
  type Row,
} from "../runtime/storage/row.ts";
import type { Draft, Post, PostStatus } from "./post.ts";
import type { Hold, Leg, LegAccount, LegPhase, LegStatus, LegWarning, Readings } from "./leg.ts";
import type { LegProblem } from "./leg-problem.ts";

// Rows are written by the functions of this file alone, which is why reading them may trust their shape.

function parseOrNull(text: string): unknown {
  return text === "" ? null : JSON.parse(text);
}

function jsonOrEmpty(value: object | null): string {
  return value === null ? "" : JSON.stringify(value);
}

export function toPostRow(rowKey: string, post: Post): Row {
  return {
    rowKey,
    id: post.id,
    applicationId: post.applicationId,
    profileId: post.profileId,
    ...toChunks("draft", JSON.stringify(post.draft)),
    revision: post.revision,
    ...originProperties(post),
    actorKind: post.actor.kind,
    actorId: post.actor.id,
    createdAt: post.createdAt,
    ...postProgress(post),
  };
}

/** What changes while a post is under way: the only part that is written again. */
export function postProgress(post: Post): Omit<Row, "rowKey"> {
  return {
    status: post.status,
    updatedAt: post.updatedAt,
    eventSequence: post.eventSequence,
    startedAt: post.startedAt ?? "",
    completedAt: post.completedAt ?? "",
  };
}

export function toPost(platformId: string, row: Row): Post {
  return {
    id: textOf(row, "id"),
    platformId,
    applicationId: textOf(row, "applicationId"),
    profileId: textOf(row, "profileId"),
    status: textOf(row, "status") as PostStatus,
    draft: JSON.parse(fromChunks("draft", row)) as Draft,
    revision: textOf(row, "revision"),
    requestId: textOf(row, "requestId"),
    traceId: textOrNull(row, "traceId"),
    actor: { kind: textOf(row, "actorKind"), id: textOf(row, "actorId") } as Actor,
    createdAt: textOf(row, "createdAt"),
    updatedAt: textOf(row, "updatedAt"),
    eventSequence: numberOf(row, "eventSequence"),
    startedAt: textOrNull(row, "startedAt"),
    completedAt: textOrNull(row, "completedAt"),
  };
}

export function toLegRow(rowKey: string, leg: Leg): Row {
  return {
    rowKey,
    network: leg.network,
    status: leg.status,
    phase: leg.phase,
    key: leg.key,
    claimId: leg.claimId ?? "",
    leaseUntil: leg.leaseUntil ?? "",
    notBefore: leg.notBefore ?? "",
    round: leg.round,
    attempts: leg.attempts,
    retries: leg.retries,
    crashes: leg.crashes,
    readings: JSON.stringify(leg.readings),
    sentAt: leg.sentAt ?? "",
    calledAt: leg.calledAt ?? "",
    resend: leg.resend,
    ...toChunks("remote", jsonOrEmpty(leg.remote)),
    holdState: leg.hold.state,
    holdTokens: leg.hold.tokens,
    holdOperation: leg.hold.operation,
    holdDay: leg.hold.day,
    tokensCharged: leg.tokensCharged,
    tokensReleased: leg.tokensReleased,
    connectionId: leg.connectionId ?? "",
    account: jsonOrEmpty(leg.account),
    networkPostId: leg.networkPostId ?? "",
    url: leg.url ?? "",
    publishedAt: leg.publishedAt ?? "",
    lastAttemptAt: leg.lastAttemptAt ?? "",
    error: jsonOrEmpty(leg.error),
    ...toChunks("warnings", JSON.stringify(leg.warnings)),
  };
}

export function toLeg(row: Row): Leg {
  const hold: Hold = {
    state: textOf(row, "holdState") as Hold["state"],
    tokens: numberOf(row, "holdTokens"),
    operation: textOf(row, "holdOperation") as Operation,
    day: textOf(row, "holdDay"),
  };
  return {
    network: textOf(row, "network") as NetworkName,
    status: textOf(row, "status") as LegStatus,
    phase: textOf(row, "phase") as LegPhase,
    key: textOf(row, "key"),
    claimId: textOrNull(row, "claimId"),
    leaseUntil: textOrNull(row, "leaseUntil"),
    notBefore: textOrNull(row, "notBefore"),
    round: textOf(row, "round"),
    attempts: numberOf(row, "attempts"),
    retries: numberOf(row, "retries"),
    crashes: numberOf(row, "crashes"),
    // Absent: written before readings were noted.
    readings: JSON.parse(textOf(row, "readings") || "{}") as Readings,
    sentAt: textOrNull(row, "sentAt"),
    calledAt: textOrNull(row, "calledAt"),
    resend: row["resend"] === true,
    remote: parseOrNull(fromChunks("remote", row)) as NetworkData | null,
    hold,
    tokensCharged: numberOf(row, "tokensCharged"),
    tokensReleased: numberOf(row, "tokensReleased"),
    connectionId: textOrNull(row, "connectionId"),
    account: parseOrNull(textOf(row, "account")) as LegAccount | null,
    networkPostId: textOrNull(row, "networkPostId"),
    url: textOrNull(row, "url"),
    publishedAt: textOrNull(row, "publishedAt"),
    lastAttemptAt: textOrNull(row, "lastAttemptAt"),
    error: parseOrNull(textOf(row, "error")) as LegProblem | null,
    warnings: JSON.parse(fromChunks("warnings", row) || "[]") as LegWarning[],
  };
}
