import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import type * as z from "zod";
import { describe, expect, test } from "vitest";
import {
  connectSessionRow,
  profileSessionRow,
} from "../../../src/shared/connections/connect-session-store.ts";
import { authorizationRow } from "../../../src/shared/connections/authorization-store.ts";
import { countsRow } from "../../../src/shared/partition/application-counts.ts";
import { headRow } from "../../../src/shared/partition/head-row.ts";
import {
  creditMarkerRow,
  ledgerRow,
  markerRow,
  walletRow,
} from "../../../src/shared/ledger/wallet-row.ts";
import { reconciledRow, totalsRow } from "../../../src/shared/ledger/totals-row.ts";
import {
  applicationConnectionRow,
  attentionRow,
} from "../../../src/shared/connections/connection-index.ts";
import { connectionRow } from "../../../src/shared/connections/connection-row.ts";
import { hostRow } from "../../../src/shared/connections/host-store.ts";
import { oauthStateRow } from "../../../src/shared/connections/oauth-state-store.ts";
import { withdrawalRow } from "../../../src/shared/connections/withdrawal-store.ts";
import { loginHistoryRow } from "../../../src/shared/limits/login-history-store.ts";
import { mailCountRow } from "../../../src/shared/mail/mail-count-store.ts";
import { noticesRow } from "../../../src/shared/mail/notice-store.ts";
import { mailServerRow } from "../../../src/shared/mail/mail-server-store.ts";
import { mailRow } from "../../../src/shared/mail/mail-store.ts";
import {
  invitationRow,
  invitedEmailRow,
} from "../../../src/shared/people/invitations/invitation-store.ts";
import { linkRow, userLinksRow } from "../../../src/shared/people/links/link-store.ts";
import { NETWORK_NAMES } from "../../../src/shared/networks/names.ts";
import { endpointStateRow } from "../../../src/shared/webhooks/endpoints/endpoint-health-store.ts";
import { countedEndRow, dayRow } from "../../../src/shared/webhooks/events/day-store.ts";
import { fileCountsRow, fileRow, listedFileRow } from "../../../src/shared/files/file-row.ts";
import { eventRow, outcomeRow } from "../../../src/shared/events/event.ts";
import { fanOutRow } from "../../../src/shared/events/event-store.ts";
import { walkRow } from "../../../src/shared/background/walk-store.ts";
import { quotaRow, recentTextRow } from "../../../src/shared/publishing/accounts/account-store.ts";
import {
  accountLeaseRow,
  queuedLegRow,
} from "../../../src/shared/publishing/accounts/account-queue-store.ts";
import { acceptedRow } from "../../../src/shared/publishing/idempotency-store.ts";
import {
  applicationPostRow,
  problemPostRow,
  scheduledPostRow,
} from "../../../src/shared/publishing/post-index.ts";
import { legRow, postRow } from "../../../src/shared/publishing/post-row.ts";
import { workRow } from "../../../src/shared/publishing/post-store.ts";
import { timelineRow } from "../../../src/shared/publishing/timeline-store.ts";
import {
  fieldsForm,
  metadataForm,
  type Column,
  type ColumnForm,
  type RowCodec,
} from "../../../src/shared/runtime/storage/codec.ts";
import { DamagedRow, onDamagedRow } from "../../../src/shared/runtime/storage/damaged-row.ts";
import type { Row } from "../../../src/shared/runtime/storage/row.ts";
import { emailRow, startingCreditRow } from "../../../src/shared/people/staff/email-store.ts";
import { userRow } from "../../../src/shared/people/staff/user-store.ts";
import { erasureRow } from "../../../src/shared/erasure/erasure-store.ts";
import { applicationRow } from "../../../src/shared/tenants/applications/application-store.ts";
import { keyPointerRow, keyRow, keyUsageRow } from "../../../src/shared/tenants/keys/key-row.ts";
import {
  listedPlatformRow,
  platformNameRow,
  platformRow,
} from "../../../src/shared/tenants/platform-row.ts";
import { deadDeliveryRow } from "../../../src/shared/webhooks/deliveries/dead-delivery-store.ts";
import { wakeRow } from "../../../src/shared/wake/wake-store.ts";
import {
  externalIdRow,
  profileNameRow,
  profileRow,
} from "../../../src/shared/tenants/profiles/profile-store.ts";
import { deliveryRow } from "../../../src/shared/webhooks/deliveries/delivery-row.ts";
import { endpointRow } from "../../../src/shared/webhooks/endpoints/endpoint-store.ts";

/** Safe: values reach a codec from its own columns alone. */
const KINDS = [
  headRow,
  walletRow,
  reconciledRow,
  ledgerRow,
  postRow,
  platformRow,
  listedPlatformRow,
  platformNameRow,
  applicationRow,
  profileRow,
  profileNameRow,
  externalIdRow,
  userRow,
  emailRow,
  startingCreditRow,
  erasureRow,
  keyRow,
  keyUsageRow,
  keyPointerRow,
  endpointRow,
  deliveryRow,
  legRow,
  applicationPostRow,
  problemPostRow,
  scheduledPostRow,
  workRow,
  acceptedRow,
  timelineRow,
  recentTextRow,
  quotaRow,
  accountLeaseRow,
  queuedLegRow,
  wakeRow,
  deadDeliveryRow,
  eventRow,
  outcomeRow,
  dayRow,
  countedEndRow,
  fileRow,
  listedFileRow,
  fileCountsRow,
  endpointStateRow,
  markerRow,
  creditMarkerRow,
  connectionRow,
  applicationConnectionRow,
  attentionRow,
  authorizationRow,
  countsRow,
  connectSessionRow,
  profileSessionRow,
  oauthStateRow,
  withdrawalRow,
  hostRow,
  loginHistoryRow,
  totalsRow,
  walkRow,
  fanOutRow,
  mailRow,
  noticesRow,
  mailCountRow,
  mailServerRow,
  invitationRow,
  invitedEmailRow,
  linkRow,
  userLinksRow,
] as unknown as readonly RowCodec<never>[];

const text = fc.string({ unit: "binary", maxLength: 40 });
const filled = fc.string({ unit: "binary", minLength: 1, maxLength: 40 });
/** As it comes out of JSON, which knows no negative zero. */
const jsonValue = fc.jsonValue().map((value): unknown => JSON.parse(JSON.stringify(value)));
const network = fc.constantFrom(...NETWORK_NAMES);

const long = fc
  .tuple(
    fc.string({ unit: "binary", minLength: 1, maxLength: 8 }),
    fc.constantFrom(1, 5_000, 9_000),
  )
  .map(([part, times]) => part.repeat(times).slice(0, 70_000));
/** Schemas drop a name such as `__proto__`. */
const fields = fc.dictionary(fc.constantFrom("id", "a name with spaces", "ä"), jsonValue);
const names = fc.dictionary(fc.constantFrom("id", "a name with spaces", "ä"), text);
const amount = fc.integer();

/** Values of columns whose JSON has a form of its own, by column. */
const FORMED: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  announced: fc.record({
    contentType: text,
    bytes: fc.nat(),
    filename: fc.option(text),
    later: jsonValue,
  }),
  files: fc.record({ bytes: fc.nat(), waiting: fc.nat(), later: jsonValue }),
  facts: fc.record({
    contentType: text,
    size: fc.nat(),
    width: fc.option(fc.nat()),
    height: fc.option(fc.nat()),
    durationSeconds: fc.option(fc.nat()),
    image: fc.constant(null),
    later: jsonValue,
  }),
  expiringKeys: fc.array(fc.integer()),
  endedSessions: fc.array(fc.record({ id: text, until: text })),
  usedLink: fc.option(fc.record({ tokenHash: text, browserHash: text, at: text })),
  makers: fc.array(
    fc.record({
      id: text,
      session: fc.option(fc.record({ sessionId: fc.option(text), version: amount })),
    }),
  ),
  counts: fc.dictionary(fc.stringMatching(/^[a-z ]{1,9}$/), fc.integer()),
  ended: fc.record({
    posts: fc.record({
      succeeded: fc.nat(),
      partial: fc.nat(),
      failed: fc.nat(),
      canceled: fc.nat(),
      later: jsonValue,
    }),
    legs: fc.dictionary(
      network,
      fc.record({
        succeeded: fc.nat(),
        failed: fc.nat(),
        failedBy: fc.dictionary(fc.stringMatching(/^[a-z_]{1,9}$/), fc.nat()),
        later: jsonValue,
      }),
    ),
    later: jsonValue,
  }),
  lastCounts: fc.dictionary(fc.stringMatching(/^[a-z ]{1,9}$/), fc.integer()),
  account: fc.record({
    id: text,
    username: text,
    displayName: text,
    avatarUrl: fc.option(text),
    url: text,
    kind: text,
  }),
  scopes: fc.array(text),
  limits: fields,
  remote: fields,
  data: fields,
  metadata: names,
  draft: fc.record({
    text: fc.oneof(text, long),
    networks: fc.array(network),
    mediaUrls: fc.array(text),
    altTexts: fc.array(fc.option(text)),
    platformOptions: fc.dictionary(network, fields),
    scheduleAt: fc.option(text),
    externalId: fc.option(text),
    metadata: names,
  }),
  error: fc.record({
    code: fc.constantFrom("connection_needs_reauth", "of_a_later_build"),
    rule: fc.option(text),
    values: fc.dictionary(fc.stringMatching(/^[a-z]{1,9}$/), fc.oneof(text, fc.nat())),
    field: fc.option(text),
    mediaIndex: fc.option(fc.nat()),
    networkCode: fc.option(text),
  }),
  calls: fc.array(
    fc.record({
      kind: fc.constantFrom("publish", "later"),
      key: text,
      state: fc.constantFrom("open", "later"),
      requestedAt: text,
      attempts: fc.nat(),
      retries: fc.nat(),
      crashes: fc.nat(),
      lastAttemptAt: fc.option(text),
      sentAt: fc.option(text),
      calledAt: fc.option(text),
      resend: fc.boolean(),
      target: fc.option(text),
      remote: fc.option(fields),
      refusal: fc.option(
        fc.record({
          kind: fc.constantFrom("rejected", "try_later", "prepare_again"),
          failure: fc.record({ code: text, networkCode: fc.option(text), later: jsonValue }),
          at: text,
          isRepeat: fc.boolean(),
          remote: fc.option(fields),
          later: jsonValue,
        }),
      ),
      result: fc.option(fc.record({ externalId: fc.option(text), url: fc.option(text) })),
      at: fc.option(text),
      error: fc.constant(null),
      later: jsonValue,
    }),
    { minLength: 1 },
  ),
  warnings: fc.array(
    fc.record({
      code: text,
      rule: text,
      values: fc.dictionary(fc.stringMatching(/^[a-z]{1,9}$/), fc.oneof(text, fc.nat())),
      field: fc.option(text),
      mediaIndex: fc.option(fc.nat()),
      later: jsonValue,
    }),
  ),
  off: fc.array(text),
  waiting: fc.array(
    fc.record({
      notice: text,
      since: text,
      count: fc.nat(),
      items: fc.array(fc.dictionary(fc.stringMatching(/^[a-z]{1,9}$/), text)),
    }),
  ),
  sent: fc.array(fc.record({ notice: text, at: text })),
  signIns: fc.record({
    networks: fc.array(fc.record({ hash: text, at: text })),
    toldAt: fc.option(text),
    codesToldAt: fc.option(text),
  }),
  uses: fc.array(fc.record({ leg: text, at: text })),
  writer: fc.record({ by: text, forMs: fc.nat() }),
  legs: fc.array(network),
  totals: fc.array(fc.tuple(fc.option(text), fc.option(text), text, amount, amount, amount)),
  allowedProfileIds: fc.array(text),
  events: fc.array(text),
  names: fc.array(text),
  indexed: fc.array(fc.constantFrom("application", "later")),
  lastError: fc.record({
    code: fc.constantFrom("connection_needs_reauth", "later"),
    rule: fc.option(text),
    values: fc.constantFrom({}, { limit: 5, name: "Acme" }),
    at: text,
  }),
  createdBy: fc.record({ kind: fc.constantFrom("api_key", "session"), id: text }),
  networks: fc.array(network),
  branding: fc.constantFrom({}, { name: "Planner", accentColor: "#2457d6" }, { later: true }),
  links: fc.array(fc.record({ network: fc.constantFrom("bluesky", "later"), connectionId: text })),
  disconnected: fc.array(
    fc.record({ network: fc.constantFrom("bluesky", "later"), accountId: text }),
  ),
};
// oxlint-disable-next-line eslint/complexity -- one line for each kind of column
function valueOf(name: string, form: ColumnForm): fc.Arbitrary<unknown> {
  const formed = FORMED[name];
  switch (form.kind) {
    case "text":
      return text;
    case "text_or_null":
      return fc.option(filled);
    case "long_text":
      return fc.oneof(text, long);
    case "integer":
      return fc.integer();
    case "integer_or_null":
      return fc.option(fc.nat());
    case "truth":
      return fc.boolean();
    case "one_of":
      return fc.constantFrom(...form.values);
    case "json":
      return formed ?? jsonValue;
    case "long_json":
      return formed ?? fc.oneof(jsonValue, long);
    case "json_or_null":
    case "long_json_or_null":
      return fc.option(formed ?? fc.dictionary(filled, jsonValue));
  }
}

function valuesOf(columns: Readonly<Record<string, Column<unknown>>>): fc.Arbitrary<never> {
  const record = Object.entries(columns).map(([name, { form }]) => [name, valueOf(name, form)]);
  // Safe: every column has a value of its own form.
  return fc.record(Object.fromEntries(record) as never) as unknown as fc.Arbitrary<never>;
}

test("every kind of row is among these", () => {
  // `npm run check:structure` holds this list to the code.
  const { rowKinds } = JSON.parse(readFileSync("tools/structure.json", "utf8")) as {
    readonly rowKinds: Readonly<Record<string, readonly string[]>>;
  };
  const kinds = KINDS.map(({ kind }) => kind);
  expect(kinds.toSorted()).toEqual(Object.values(rowKinds).flat().toSorted());
});

const damageOf = (read: () => unknown) => {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(DamagedRow);
    return (error as DamagedRow).damage;
  }
  return undefined;
};

describe.each(KINDS.map((codec) => [codec.kind, codec] as const))(
  "a row of kind %s",
  (_, codec) => {
    const [value] = fc.sample(valuesOf(codec.columns), { numRuns: 1, seed: 1 });
    if (value === undefined) throw new Error("no sample");
    const whole: Row = { ...codec.encode(value), rowKey: "r" };
    const storedAs = (name: string, { form }: Column<unknown>) =>
      form.kind.startsWith("long") ? `${name}0` : name;

    test("a row is read as it was written, whatever a later build has added", () => {
      fc.assert(
        fc.property(valuesOf(codec.columns), (written) => {
          const row = { ...codec.encode(written), rowKey: "r", later: "kept" };
          expect(codec.decode(row)).toEqual(written);
        }),
        { numRuns: 60 },
      );
    });

    test("a row is damaged without any of its columns", () => {
      for (const [name, column] of Object.entries(codec.columns)) {
        const { [storedAs(name, column)]: _dropped, ...rest } = whole;
        const damage = damageOf(() => codec.decode({ ...rest, rowKey: "r" }));
        expect(damage?.column).toBe(name);
      }
    });

    test("a row has the number of its form, and is left alone where it needs what this build lacks", () => {
      expect(whole["v"]).toBe(1);
      for (const reader of ["work", "people"] as const) {
        const damage = damageOf(() => codec.decode({ ...whole, needs: "threads" }, reader));
        expect(damage).toMatchObject({ column: "needs", isNewer: true });
      }
      expect(codec.decode({ ...whole, needs: "" })).toEqual(codec.decode(whole));
    });

    test("a row with a value of a later build is shown to people, and is nobody's to work on", () => {
      for (const [name, column] of Object.entries(codec.columns)) {
        if (column.form.kind !== "one_of") continue;
        const row = { ...whole, [name]: "of a later build" };
        expect(codec.decode(row, "people")[name as never]).toBe("of a later build");
        expect(damageOf(() => codec.decode(row))).toMatchObject({ column: name, isNewer: true });
      }
    });

    test("a row is damaged with a value of another type", () => {
      for (const [name, column] of Object.entries(codec.columns)) {
        const { kind } = column.form;
        const wrong = kind === "truth" ? "true" : kind.startsWith("integer") ? "1" : 1;
        const row = { ...whole, [storedAs(name, column)]: wrong };
        expect(damageOf(() => codec.decode(row))?.column).toBe(name);
        if (!kind.includes("json")) continue;
        const torn = { ...whole, [storedAs(name, column)]: '{"torn":' };
        expect(damageOf(() => codec.decode(torn))?.reason).toBe("is no JSON");
      }
    });
  },
);

/** What the JSON of a row may lack, or have in a form that is ignored. */
interface Leniency {
  readonly path: string;
  readonly is: string;
}

// Safe: every schema is made by zod's classic API.
const defOf = (schema: z.core.$ZodType) =>
  (schema as z.ZodType).def as z.core.$ZodTypes["_zod"]["def"];

/** Returns the parts of a schema that take less, or less freely, than rows of this build and of later ones need. */
function leniencies(schema: z.core.$ZodType, path: string): Leniency[] {
  const def = defOf(schema);
  const own = (is: string, ...inner: readonly Leniency[]) => [{ path, is }, ...inner];
  switch (def.type) {
    case "object": {
      const fields = Object.entries(def.shape).flatMap(([name, field]) =>
        leniencies(field, `${path}.${name}`),
      );
      const isLoose = def.catchall !== undefined && defOf(def.catchall).type === "unknown";
      return isLoose ? fields : own("drops or refuses fields of later builds", ...fields);
    }
    case "array":
      return leniencies(def.element, `${path}[]`);
    case "tuple":
      return [...def.items, ...(def.rest === null ? [] : [def.rest])].flatMap((item) =>
        leniencies(item, `${path}[]`),
      );
    case "record":
      return leniencies(def.valueType, `${path}{}`);
    case "optional":
    case "default":
    case "catch":
      return own("may be absent", ...leniencies(def.innerType, path));
    case "nullable":
    case "readonly":
      return leniencies(def.innerType, path);
    case "pipe":
      return leniencies(def.in, path);
    case "union":
      return def.options.flatMap((option) => leniencies(option, path));
    case "enum":
    case "literal":
      return own("refuses values of later builds");
    case "string":
    case "number":
    case "boolean":
    case "custom":
    case "unknown":
      return [];
    default:
      return own(`is of the unexpected type ${def.type}`);
  }
}

/** What this build leaves out when it writes. */
const LEFT_OUT = [
  // Facts that only some files have.
  "file.facts.film",
  "file.facts.isDynamicForm",
  "file.facts.isMoving",
  "file.facts.needsPassword",
  "file.facts.pages",
  // Null and false, which most calls have most of the time.
  ...["lastAttemptAt", "sentAt", "calledAt", "resend", "remote", "refusal", "target", "result"].map(
    (name) => `leg.calls[].${name}`,
  ),
  ...["at", "error"].map((name) => `leg.calls[].${name}`),
  // What a customer left out.
  ...["name", "logoUrl", "faviconUrl", "accentColor", "backLabel", "locale", "theme"].map(
    (name) => `connect session.branding.${name}`,
  ),
  ...["privacyUrl", "termsUrl", "supportUrl"].map((name) => `connect session.branding.${name}`),
];

test("stored JSON lacks nothing that this build writes, and takes and keeps what a later one adds", () => {
  const found = KINDS.flatMap(({ kind, columns }) =>
    Object.entries(columns).flatMap(([name, { form }]) =>
      "schema" in form ? leniencies(form.schema(), `${kind}.${name}`) : [],
    ),
  );
  const isAbsence = ({ is }: Leniency) => is === "may be absent";
  const absent = new Set(found.filter(isAbsence).map(({ path }) => path));
  expect([...absent].toSorted()).toEqual(LEFT_OUT.toSorted());
  expect(found.filter((one) => !isAbsence(one))).toEqual([]);
});

test("a number that is no whole one is damage, and a text that is none of those it can be a later build's", () => {
  const wallet = { balance: 1, reserved: 0, sequence: 1, dailyBudget: null, daySpent: 0, day: "" };
  const rest = { budgetChangedAt: null, paceUntil: null, lowAt: null, isCredited: false };
  const columns = walletRow.encode({ ...wallet, ...rest });
  const row = { ...columns, rowKey: "HW" };
  expect(damageOf(() => walletRow.decode({ ...row, balance: 1.5 }))?.column).toBe("balance");
  expect(walletRow.decode(row).dailyBudget).toBeNull();
  expect(damageOf(() => walletRow.decode({ ...row, day: 1 }))?.reason).toBe("is no text");
  const columnsOfLeg = fc.sample(valuesOf(legRow.columns), { numRuns: 1, seed: 1 })[0];
  if (columnsOfLeg === undefined) throw new Error("no sample");
  const leg = { ...legRow.encode(columnsOfLeg), rowKey: "P|leg" };
  expect(damageOf(() => legRow.decode({ ...leg, reservationState: "lost" }))).toEqual({
    kind: "leg",
    rowKey: "P|leg",
    column: "reservationState",
    reason: "has a value of a later build",
    isNewer: true,
  });
  expect(legRow.decode({ ...leg, reservationState: "lost" }, "people").reservationState).toBe(
    "lost",
  );
});

test("a caller that asked is told about each damaged row that is read, until they ask no more", () => {
  const told: unknown[] = [];
  const stop = onDamagedRow((damage) => told.push(damage));
  const damage = damageOf(() => reconciledRow.decode({ rowKey: "R", sequence: 1, balance: 1 }));
  expect(told).toEqual([damage]);
  stop();
  damageOf(() => reconciledRow.decode({ rowKey: "R" }));
  expect(told).toHaveLength(1);
});

test("a customer's names are given back as they are, __proto__ too", () => {
  const given = JSON.parse('{"__proto__":"a","constructor":"b"}') as Record<string, unknown>;
  for (const form of [fieldsForm(), metadataForm()]) {
    expect(JSON.stringify(form.parse(given))).toBe(JSON.stringify(given));
    expect(form.safeParse(["a"]).success).toBe(false);
  }
  expect(metadataForm().safeParse({ name: 1 }).success).toBe(false);
});
