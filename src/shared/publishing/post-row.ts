import * as z from "zod";
import type { Actor } from "../callers/caller.ts";
import type { WalletAct } from "../ledger/ledger.ts";
import type { NetworkName } from "../networks/networks.ts";
import { shape } from "../runtime/shape.ts";
import {
  fieldsForm,
  integer,
  json,
  jsonOrNull,
  longJson,
  metadataForm,
  namesForm,
  oneOf,
  type Reader,
  rowCodec,
  text,
  textOrNull,
} from "../runtime/storage/codec.ts";
import { NewerRow } from "../runtime/storage/damaged-row.ts";
import type { Columns, Row } from "../runtime/storage/row.ts";
import { type Call, type CallRefusal, isKnown } from "./call.ts";
import { type Draft, type IndexName, type Post, POST_STATUSES } from "./post.ts";
import type { Reservation, Leg, LegAccount } from "./leg.ts";
import type { LegProblem, LegWarning } from "./problems.ts";

const draftForm = shape((): z.ZodType<Draft> =>
  z.looseObject({
    text: z.string(),
    networks: namesForm<NetworkName>()(),
    mediaUrls: z.array(z.string()),
    altTexts: z.array(z.string().nullable()),
    platformOptions: z.record(z.string(), fieldsForm()),
    scheduleAt: z.string().nullable(),
    externalId: z.string().nullable(),
    metadata: metadataForm(),
  }),
);
const accountForm = shape((): z.ZodType<LegAccount> =>
  z.looseObject({ id: z.string(), username: z.string(), url: z.string() }),
);
const valuesForm = shape(() => z.record(z.string(), z.union([z.string(), z.number()])));
const problemForm = shape(
  () =>
    // Safe: a code that this build doesn't know is shown in general words.
    z.looseObject({
      code: z.string(),
      rule: z.string().nullable(),
      values: valuesForm(),
      field: z.string().nullable(),
      mediaIndex: z.number().nullable(),
      networkCode: z.string().nullable(),
    }) as unknown as z.ZodType<LegProblem>,
);
const warningsForm = shape(
  () =>
    // Safe: a code that this build doesn't know is shown in general words.
    z.array(
      z.looseObject({
        code: z.string(),
        rule: z.string(),
        values: valuesForm(),
        field: z.string().nullable(),
        mediaIndex: z.number().nullable(),
      }),
    ) as unknown as z.ZodType<readonly LegWarning[]>,
);

const refusalForm = shape(
  () =>
    // Safe: `toLeg` leaves a refusal of a later build to people, and a code of it is only shown.
    z.looseObject({
      kind: z.string(),
      failure: z.looseObject({ code: z.string(), networkCode: z.string().nullable() }),
      at: z.string(),
      isRepeat: z.boolean(),
      remote: fieldsForm().nullable(),
    }) as unknown as z.ZodType<CallRefusal>,
);

const callForm = shape((): z.ZodType<Call> => {
  const textOrAbsent = z.string().nullable().default(null);
  return z.looseObject({
    // Safe: `toLeg` leaves a call of a later build to people.
    kind: z.string() as unknown as z.ZodType<Call["kind"]>,
    key: z.string(),
    state: z.string() as unknown as z.ZodType<Call["state"]>,
    requestedAt: z.string(),
    attempts: z.number(),
    retries: z.number(),
    crashes: z.number(),
    lastAttemptAt: textOrAbsent,
    sentAt: textOrAbsent,
    calledAt: textOrAbsent,
    resend: z.boolean().default(false),
    // Safe: it was bounded when it was written.
    remote: fieldsForm().nullable().default(null) as unknown as z.ZodType<Call["remote"]>,
    refusal: refusalForm().nullable().default(null),
    target: textOrAbsent,
    result: z
      .looseObject({ externalId: z.string().nullable(), url: z.string().nullable() })
      .nullable()
      .default(null) as unknown as z.ZodType<Call["result"]>,
    at: textOrAbsent,
    error: problemForm().nullable().default(null),
  });
});
const callsForm = shape((): z.ZodType<Leg["calls"]> => z.tuple([callForm()], callForm()));

/** The request, and the progress of the post. */
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
  status: oneOf(POST_STATUSES),
  updatedAt: text(),
  eventSequence: integer(),
  indexed: json(namesForm<IndexName>()),
  startedAt: textOrNull(),
  completedAt: textOrNull(),
});

export const legRow = rowCodec("leg", {
  network: text<NetworkName>(),
  claimId: textOrNull(),
  leaseUntil: textOrNull(),
  notBefore: textOrNull(),
  round: text(),
  reservationState: oneOf<Reservation["state"]>(["none", "open", "settled", "released"]),
  reservationTokens: integer(),
  reservationOperation: text<WalletAct>(),
  reservationDay: text(),
  tokensSettled: integer(),
  tokensReleased: integer(),
  connectionId: textOrNull(),
  account: jsonOrNull(accountForm),
  warnings: longJson(warningsForm),
  calls: longJson(callsForm),
});

export function toPostRow(rowKey: string, post: Post): Row {
  const { kind: actorKind, id: actorId } = post.actor;
  return { ...postRow.encode({ ...post, actorKind, actorId }), rowKey };
}

/** Returns the columns that change while a post is processed. */
export function postProgress(post: Post): Columns {
  const { status, updatedAt, eventSequence, indexed, startedAt, completedAt } = post;
  return postRow.encodePart({
    status,
    updatedAt,
    eventSequence,
    indexed,
    startedAt,
    completedAt,
  });
}

export function toPost(platformId: string, row: Row, reader?: Reader): Post {
  const { actorKind: kind, actorId: id, ...post } = postRow.decode(row, reader);
  return { ...post, platformId, actor: { kind, id } };
}

export function toLegRow(rowKey: string, leg: Leg): Row {
  const { state, tokens, operation, day } = leg.reservation;
  const reservation = {
    reservationState: state,
    reservationTokens: tokens,
    reservationOperation: operation,
    reservationDay: day,
  };
  // Without what the form of calls adds again. Safe: read by that form, each is what it was.
  const calls = leg.calls.map((call) =>
    Object.fromEntries(
      Object.entries(call).filter(([, value]) => value !== null && value !== false),
    ),
  ) as unknown as Leg["calls"];
  return { ...legRow.encode({ ...leg, ...reservation, calls }), rowKey };
}

/** Decodes the row of a leg. @throws DamagedRow; NewerRow for work on calls that this build does not know */
export function toLeg(row: Row, reader: Reader = "work"): Leg {
  const {
    reservationState: state,
    reservationTokens: tokens,
    reservationOperation: operation,
    reservationDay: day,
    ...leg
  } = legRow.decode(row, reader);
  if (reader === "work" && !leg.calls.every(isKnown)) {
    const reason = "has a value of a later build";
    throw new NewerRow({ kind: legRow.kind, rowKey: row.rowKey, column: "calls", reason });
  }
  return { ...leg, reservation: { state, tokens, operation, day } };
}
