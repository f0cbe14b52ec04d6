import type { Actor } from "../callers/caller.ts";
import type { Operation } from "../core/core.ts";
import type { NetworkData } from "../networks/contract/draft.ts";
import type { NetworkName } from "../networks/lookup.ts";
import {
  integer,
  jsonOrNull,
  longJson,
  longJsonOrNull,
  oneOf,
  type Reader,
  rowCodec,
  text,
  textOrNull,
  truth,
} from "../runtime/storage/codec.ts";
import type { Columns, Row } from "../runtime/storage/row.ts";
import type { Draft, Post } from "./post.ts";
import type { Reservation, Leg, LegAccount, LegPhase } from "./leg.ts";
import type { LegProblem, LegWarning } from "./problems.ts";

/** What was asked for, and the progress of the post. */
export const postRow = rowCodec("post", {
  id: text(),
  applicationId: text(),
  profileId: text(),
  draft: longJson<Draft>(),
  revision: text(),
  requestId: text(),
  traceId: textOrNull(),
  actorKind: text<Actor["kind"]>(),
  actorId: text(),
  createdAt: text(),
  status: oneOf(["scheduled", "processing", "succeeded", "partial", "failed", "canceled"]),
  updatedAt: text(),
  eventSequence: integer(),
  startedAt: textOrNull(),
  completedAt: textOrNull(),
});

export const legRow = rowCodec("leg", {
  network: text<NetworkName>(),
  status: oneOf(["pending", "publishing", "succeeded", "failed", "skipped"]),
  phase: oneOf<LegPhase>(["idle", "claimed", "waiting", "sent"]),
  key: text(),
  claimId: textOrNull(),
  leaseUntil: textOrNull(),
  notBefore: textOrNull(),
  round: text(),
  attempts: integer(),
  retries: integer(),
  crashes: integer(),
  sentAt: textOrNull(),
  calledAt: textOrNull(),
  resend: truth(),
  remote: longJsonOrNull<NetworkData>(),
  holdState: oneOf<Reservation["state"]>(["none", "open", "captured", "released"]),
  holdTokens: integer(),
  holdOperation: text<Operation>(),
  holdDay: text(),
  tokensCharged: integer(),
  tokensReleased: integer(),
  connectionId: textOrNull(),
  account: jsonOrNull<LegAccount>(),
  networkPostId: textOrNull(),
  url: textOrNull(),
  publishedAt: textOrNull(),
  lastAttemptAt: textOrNull(),
  error: jsonOrNull<LegProblem>(),
  warnings: longJson<readonly LegWarning[]>(),
});

export function toPostRow(rowKey: string, post: Post): Row {
  const { kind: actorKind, id: actorId } = post.actor;
  return { ...postRow.encode({ ...post, actorKind, actorId }), rowKey };
}

/** Returns the columns that change while a post is under way. */
export function postProgress(post: Post): Columns {
  const { status, updatedAt, eventSequence, startedAt, completedAt } = post;
  return postRow.encodePart({ status, updatedAt, eventSequence, startedAt, completedAt });
}

/** Decodes the row of a post. @throws DamagedRow */
export function toPost(platformId: string, row: Row, reader?: Reader): Post {
  const { actorKind: kind, actorId: id, ...post } = postRow.decode(row, reader);
  return { ...post, platformId, actor: { kind, id } };
}

export function toLegRow(rowKey: string, leg: Leg): Row {
  const { state: holdState, tokens, operation, day } = leg.reservation;
  const reservation = { holdState, holdTokens: tokens, holdOperation: operation, holdDay: day };
  return { ...legRow.encode({ ...leg, ...reservation }), rowKey };
}

/** Decodes the row of a leg. @throws DamagedRow */
export function toLeg(row: Row, reader?: Reader): Leg {
  const { holdState, holdTokens, holdOperation, holdDay, ...leg } = legRow.decode(row, reader);
  const reservation = {
    state: holdState,
    tokens: holdTokens,
    operation: holdOperation,
    day: holdDay,
  };
  return { ...leg, reservation };
}
