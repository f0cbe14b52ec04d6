import * as z from "zod";
import type { Actor } from "../callers/caller.ts";
import type { Operation } from "../core/core.ts";
import type { NetworkName } from "../networks/lookup.ts";
import { shape } from "../runtime/shape.ts";
import {
  fieldsForm,
  integer,
  jsonOrNull,
  longJson,
  longJsonOrNull,
  metadataForm,
  namesForm,
  oneOf,
  type Reader,
  rowCodec,
  text,
  textOrNull,
  truth,
} from "../runtime/storage/codec.ts";
import type { Columns, Row } from "../runtime/storage/row.ts";
import type { LaterCall } from "./call.ts";
import type { Draft, Post } from "./post.ts";
import type { Reservation, Leg, LegAccount, LegPhase } from "./leg.ts";
import type { LegProblem, LegWarning } from "./problems.ts";

const draftForm = shape((): z.ZodType<Draft> =>
  z.looseObject({
    text: z.string(),
    networks: namesForm<NetworkName>()(),
    mediaUrls: z.array(z.string()).default([]),
    altTexts: z.array(z.string().nullable()).default([]),
    platformOptions: z.record(z.string(), fieldsForm()).default({}),
    scheduleAt: z.string().nullable().default(null),
    externalId: z.string().nullable().default(null),
    metadata: metadataForm().default({}),
  }),
);
const accountForm = shape((): z.ZodType<LegAccount> =>
  z.looseObject({ id: z.string(), username: z.string(), url: z.string() }),
);
const problemForm = shape(
  () =>
    // Safe: a code that this build does not know is shown as it is.
    z.looseObject({
      code: z.string(),
      message: z.string(),
      remediation: z.string(),
      rule: z.string().nullable().default(null),
      mediaIndex: z.number().nullable().default(null),
      networkCode: z.string().nullable().default(null),
    }) as unknown as z.ZodType<LegProblem>,
);
const warningsForm = shape((): z.ZodType<readonly LegWarning[]> =>
  z.array(z.looseObject({ code: z.string(), message: z.string() })),
);

const callsForm = shape((): z.ZodType<readonly LaterCall[]> =>
  z.array(
    z.looseObject({
      // Safe: a build that writes other ones names them in `needs`, so that this one leaves the row alone.
      kind: z.string() as unknown as z.ZodType<LaterCall["kind"]>,
      key: z.string(),
      state: z.string() as unknown as z.ZodType<LaterCall["state"]>,
      requestedAt: z.string(),
      attempts: z.number(),
      crashes: z.number(),
      sentAt: z.string().nullable(),
      target: z.string().nullable(),
      remote: fieldsForm().nullable(),
      result: z
        .looseObject({ externalId: z.string().nullable(), url: z.string().nullable() })
        .nullable(),
      at: z.string().nullable(),
      error: problemForm().nullable(),
    }),
  ),
);

/** What was asked for, and the progress of the post. */
export const postRow = rowCodec("post", {
  id: text(),
  applicationId: text(),
  profileId: text(),
  draft: longJson(draftForm),
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
  remote: longJsonOrNull(fieldsForm),
  holdState: oneOf<Reservation["state"]>(["none", "open", "captured", "released"]),
  holdTokens: integer(),
  holdOperation: text<Operation>(),
  holdDay: text(),
  tokensCharged: integer(),
  tokensReleased: integer(),
  connectionId: textOrNull(),
  account: jsonOrNull(accountForm),
  networkPostId: textOrNull(),
  url: textOrNull(),
  publishedAt: textOrNull(),
  lastAttemptAt: textOrNull(),
  error: jsonOrNull(problemForm),
  warnings: longJson(warningsForm),
  calls: longJsonOrNull(callsForm),
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
  const calls = leg.calls.length === 0 ? null : leg.calls;
  return { ...legRow.encode({ ...leg, ...reservation, calls }), rowKey };
}

/** Decodes the row of a leg. @throws DamagedRow */
export function toLeg(row: Row, reader?: Reader): Leg {
  const { holdState, holdTokens, holdOperation, holdDay, calls, ...leg } = legRow.decode(
    row,
    reader,
  );
  const reservation = {
    state: holdState,
    tokens: holdTokens,
    operation: holdOperation,
    day: holdDay,
  };
  return { ...leg, reservation, calls: calls ?? [] };
}
