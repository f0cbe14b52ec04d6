import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { connectSessionRow } from "../../src/shared/connections/connect-session-store.ts";
import { connectionIndexRow } from "../../src/shared/connections/connection-index-store.ts";
import { connectionRow } from "../../src/shared/connections/connection-row.ts";
import { hostRow } from "../../src/shared/connections/host-store.ts";
import { oauthStateRow } from "../../src/shared/connections/oauth-state-store.ts";
import { pendingEventRow } from "../../src/shared/connections/pending-event.ts";
import { loginHistoryRow } from "../../src/shared/limits/login-history-store.ts";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import {
  creditMarkerRow,
  ledgerRow,
  markerRow,
  reconciledRow,
  totalsRow,
  walletRow,
} from "../../src/shared/billing/wallet-row.ts";
import { countRow } from "../../src/shared/runtime/storage/sharded-counter.ts";
import { endpointStateRow } from "../../src/shared/webhooks/endpoints/endpoint-health-store.ts";
import { eventRow } from "../../src/shared/webhooks/events/event.ts";
import { fanOutRow } from "../../src/shared/webhooks/events/event-store.ts";
import { watermarkRow } from "../../src/shared/due/due-store.ts";
import { poisonRow } from "../../src/shared/background/housekeeping-store.ts";
import { walkRow } from "../../src/shared/background/walk-store.ts";
import { quotaRow, recentTextRow } from "../../src/shared/publishing/accounts/account-store.ts";
import { accountLeaseRow } from "../../src/shared/publishing/accounts/account-queue-store.ts";
import { acceptedRow } from "../../src/shared/publishing/idempotency-store.ts";
import { legRow, postRow } from "../../src/shared/publishing/post-row.ts";
import { workRow } from "../../src/shared/publishing/post-store.ts";
import { timelineRow } from "../../src/shared/publishing/timeline-store.ts";
import { DUE_POSTS } from "../../src/shared/publishing/post-queue.ts";
import {
  rowCodec,
  type Column,
  type ColumnForm,
  type RowCodec,
} from "../../src/shared/runtime/storage/codec.ts";
import { DamagedRow, onDamagedRow } from "../../src/shared/runtime/storage/damaged-row.ts";
import type { Row } from "../../src/shared/runtime/storage/row.ts";
import { emailRow } from "../../src/shared/tenants/staff/email-store.ts";
import { removalsRow, userRow } from "../../src/shared/tenants/staff/user-store.ts";
import { erasureRow } from "../../src/shared/tenants/erasure/erasure-store.ts";
import { keyIndexRow, liveKeysRow } from "../../src/shared/tenants/keys/key-index-store.ts";
import { applicationRow } from "../../src/shared/tenants/applications/application-store.ts";
import { keyRow, keyUsageRow } from "../../src/shared/tenants/keys/key-store.ts";
import { platformRow } from "../../src/shared/tenants/platforms/platform-store.ts";
import { deadDeliveryRow } from "../../src/shared/webhooks/deliveries/dead-delivery-store.ts";
import { DUE_DELIVERIES } from "../../src/shared/webhooks/deliveries/delivery.ts";
import { externalIdRow, profileRow } from "../../src/shared/tenants/profiles/profile-store.ts";
import { deliveryRow } from "../../src/shared/webhooks/deliveries/delivery-row.ts";
import {
  endpointIndexRow,
  endpointRow,
} from "../../src/shared/webhooks/endpoints/endpoint-store.ts";
import { dumpedRows, type DumpedRow } from "../old-data/dumped.ts";

/** A codec, and where its rows lie. */
interface Kind {
  readonly codec: RowCodec<never>;
  readonly table: string;
  readonly isIt: IsIt;
}

type IsIt = (rowKey: string, columns: DumpedRow["columns"]) => boolean;

const starting = (start: string) => (rowKey: string) => rowKey.startsWith(start);
const partsOf = (rowKey: string) => rowKey.split("|").length;
const kind = <Value>(codec: RowCodec<Value>, table: string, isIt: IsIt): Kind => ({
  // Safe: values reach it from its own columns alone.
  codec: codec as unknown as RowCodec<never>,
  table,
  isIt,
});

/** Its events are in columns of their own, so that it can be read when they are damaged. */
const wholeConnectionRow = rowCodec("connection", {
  ...connectionRow.columns,
  ...pendingEventRow.columns,
});
const isNetwork = (rowKey: string) => NETWORK_NAMES.some((name) => name === rowKey);

const KINDS: readonly Kind[] = [
  kind(walletRow, "core", (key) => key === "W"),
  kind(reconciledRow, "core", (key) => key === "R"),
  kind(ledgerRow, "core", starting("L|")),
  kind(postRow, "core", (key) => key.startsWith("P|") && partsOf(key) === 4),
  kind(platformRow, "tenants", (key) => key === "P"),
  kind(applicationRow, "tenants", starting("A|")),
  kind(profileRow, "tenants", starting("F|")),
  kind(externalIdRow, "tenants", starting("X|")),
  kind(userRow, "tenants", starting("U|")),
  kind(removalsRow, "tenants", (key) => key === "REMOVALS"),
  kind(emailRow, "emails", (key) => key === "E"),
  kind(erasureRow, "erasures", () => true),
  kind(keyRow, "keys", (key) => key === "K"),
  kind(keyUsageRow, "keys", (key) => key === "U"),
  kind(keyIndexRow, "tenants", starting("K|")),
  kind(liveKeysRow, "tenants", starting("KN|")),
  kind(endpointRow, "tenants", starting("H|")),
  kind(deliveryRow, "deliveries", starting("D|")),
  kind(legRow, "core", (key) => key.startsWith("P|") && partsOf(key) === 5),
  kind(workRow, "core", starting("X|")),
  kind(acceptedRow, "core", starting("I|")),
  kind(timelineRow, "timeline", () => true),
  kind(recentTextRow, "accounts", starting("T|")),
  kind(quotaRow, "accounts", starting("Q|")),
  kind(accountLeaseRow, "accounts", (key) => key === "B"),
  kind(DUE_POSTS.codec, "due", starting("2")),
  kind(DUE_DELIVERIES.codec, "duedeliveries", starting("2")),
  kind(watermarkRow, "due", (key) => key === "due"),
  kind(poisonRow, "housekeeping", (key) => /\|[0-9a-f]{64}$/.test(key)),
  kind(deadDeliveryRow, "dead", () => true),
  kind(eventRow, "events", () => true),
  kind(endpointStateRow, "deliveries", (key) => key === "S"),
  kind(endpointIndexRow, "tenants", starting("HN|")),
  kind(countRow, "tenants", starting("FN|")),
  kind(markerRow, "core", (key, columns) => key.startsWith("O|") && !("sequence" in columns)),
  kind(creditMarkerRow, "core", (key, columns) => key.startsWith("O|") && "sequence" in columns),
  kind(wholeConnectionRow, "connections", isNetwork),
  kind(connectionIndexRow, "connections", starting("app_")),
  kind(connectSessionRow, "connectsessions", (key) => key === "S"),
  kind(oauthStateRow, "oauthstates", (key) => key === "S"),
  kind(hostRow, "instances", (key) => key === "H"),
  kind(loginHistoryRow, "ratewindows", (key) => partsOf(key) === 1),
];

const text = fc.string({ unit: "binary", maxLength: 40 });
const filled = fc.string({ unit: "binary", minLength: 1, maxLength: 40 });
/** As it comes out of JSON, which knows no negative zero. */
const jsonValue = fc.jsonValue().map((value): unknown => JSON.parse(JSON.stringify(value)));
const network = fc.constantFrom(...NETWORK_NAMES);

/** Values of columns whose JSON has a form of its own, by column. */
const FORMED: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  expiring: fc.array(fc.integer()),
  counts: fc.dictionary(fc.stringMatching(/^[a-z ]{1,9}$/), fc.integer()),
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
  // Its schema drops a name such as `__proto__`.
  limits: fc.dictionary(fc.constantFrom("charactersMax", "a name with spaces", "ä"), jsonValue),
  lastError: fc.record({ code: fc.constant("connection_needs_reauth"), at: text }),
  untold: fc.array(
    fc.record({
      id: text,
      type: fc.constantFrom("connection.linked", "connection.removed"),
      at: text,
      connection: fc.record({ rowKey: text, generation: fc.nat(), isAny: fc.boolean() }),
      origin: fc.record({ traceId: fc.option(text), requestId: fc.option(text) }),
      lostBefore: fc.nat(),
    }),
  ),
  networks: fc.array(network),
  branding: fc.constantFrom({}, { name: "Planner", accentColor: "#2457d6" }),
  links: fc.array(
    fc.record({ network, accountHash: text, connectionId: text, isLinked: fc.boolean() }),
  ),
};
const long = fc
  .tuple(
    fc.string({ unit: "binary", minLength: 1, maxLength: 8 }),
    fc.constantFrom(1, 5_000, 9_000),
  )
  .map(([part, times]) => part.repeat(times).slice(0, 70_000));

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

const rowOf = ({ rowKey, columns }: DumpedRow): Row => {
  for (const value of Object.values(columns)) expect(value).not.toBeTypeOf("object");
  return { rowKey, ...(columns as Record<string, string>) };
};

const damageOf = (read: () => unknown) => {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(DamagedRow);
    return (error as DamagedRow).damage;
  }
  return undefined;
};

test("totals of a day, of which 0.2.0 has no rows, are read as they were written", () => {
  const values = fc.record({ day: filled, totals: fc.array(jsonValue, { maxLength: 3 }) });
  fc.assert(
    fc.property(values, ({ day, totals }) => {
      // Safe: the codec looks at no total's own form.
      const value = { day, totals: totals as never };
      expect(totalsRow.decode({ ...totalsRow.encode(value), rowKey: "r" })).toEqual(value);
    }),
    { numRuns: 60 },
  );
});

describe.each(KINDS.map((of) => [of.codec.kind, of] as const))("a row of kind %s", (_, of) => {
  const { codec } = of;
  const dumped = dumpedRows().filter(
    ({ table, rowKey, columns }) => table === of.table && of.isIt(rowKey, columns),
  );

  test("is read as it was written", () => {
    fc.assert(
      fc.property(valuesOf(codec.columns), (value) => {
        const row = { ...codec.encode(value), rowKey: "r" };
        expect(codec.decode(row)).toEqual(value);
      }),
      { numRuns: 60 },
    );
  });

  test("of version 0.2.0 is read, and written as it was", () => {
    expect(dumped.length).toBeGreaterThan(0);
    for (const row of dumped.map(rowOf)) {
      const value = codec.decode(row);
      // What later versions added is written beside it.
      const { rowKey, ...columns } = row;
      expect({ rowKey, ...codec.encode(value) }).toMatchObject({ rowKey, ...columns });
    }
  });

  test("without a column that all rows of 0.2.0 have is damaged; no other column may be missing", () => {
    const rows = dumped.map(rowOf);
    const [whole] = rows;
    if (whole === undefined) throw new Error("the dump has no such row");
    for (const name of Object.keys(codec.columns)) {
      const stored = [name, `${name}0`].find((known) => known in whole);
      const isInAll = rows.every((row) => name in row || `${name}0` in row);
      const { [stored ?? name]: _dropped, ...rest } = whole;
      const damage = damageOf(() => codec.decode({ ...rest, rowKey: "r" }));
      expect(damage?.column, name).toBe(isInAll ? name : undefined);
    }
  });

  test("with a value of another type is damaged", () => {
    const [whole] = dumped.map(rowOf);
    if (whole === undefined) throw new Error("the dump has no such row");
    for (const [name, { form }] of Object.entries(codec.columns)) {
      const isLong = form.kind.startsWith("long");
      const wrong = form.kind === "truth" ? "true" : form.kind.startsWith("integer") ? "1" : 1;
      const row = { ...whole, [isLong ? `${name}0` : name]: wrong };
      expect(damageOf(() => codec.decode(row))?.column).toBe(name);
      if (!form.kind.includes("json")) continue;
      const torn = { ...whole, [isLong ? `${name}0` : name]: '{"torn":' };
      expect(damageOf(() => codec.decode(torn))?.reason).toBe("is no JSON");
    }
  });
});

/** Kinds that 0.2.0 did not have. */
const YOUNG = [
  kind(walkRow, "housekeeping", () => false),
  kind(fanOutRow, "core", (key) => key === "E"),
];

test.each(YOUNG)("a row of kind $codec.kind is read as it was written", ({ codec }) => {
  fc.assert(
    fc.property(valuesOf(codec.columns), (value) => {
      expect(codec.decode({ ...codec.encode(value), rowKey: "r" })).toEqual(value);
    }),
    { numRuns: 60 },
  );
});

test("no row of 0.2.0 lies where the lease of a platform's pending events does", () => {
  const core = dumpedRows().filter(({ table }) => table === "core");
  expect(core.some(({ rowKey }) => rowKey.startsWith("E|"))).toBe(true);
  // One read goes from the lease to the events: what lay in between would be taken for one.
  expect(core.filter(({ rowKey }) => rowKey >= "E" && rowKey < "E|")).toEqual([]);
});

test("a number that is no whole one, and a text that is none of those it can be, are damage", () => {
  const wallet = { balance: 1, reserved: 0, sequence: 1, dailyBudget: null, daySpent: 0, day: "" };
  const rest = { budgetChangedAt: null, paceUntil: null, accessVersion: "", writer: null };
  const columns = walletRow.encode({ ...wallet, ...rest });
  const row = { ...columns, rowKey: "W" };
  expect(damageOf(() => walletRow.decode({ ...row, balance: 1.5 }))?.column).toBe("balance");
  expect(walletRow.decode(row).dailyBudget).toBeNull();
  const [leg] = dumpedRows().filter(
    ({ rowKey }) => rowKey.startsWith("P|") && partsOf(rowKey) === 5,
  );
  if (leg === undefined) throw new Error("the dump has no leg");
  expect(damageOf(() => legRow.decode({ ...rowOf(leg), phase: "lost" }))).toEqual({
    kind: "leg",
    rowKey: leg.rowKey,
    column: "phase",
    reason: "is none of the values it can have",
  });
});

test("whoever asked is told of each damaged row that is read, until they ask no more", () => {
  const told: unknown[] = [];
  const stop = onDamagedRow((damage) => told.push(damage));
  const damage = damageOf(() => reconciledRow.decode({ rowKey: "R", sequence: 1, balance: 1 }));
  expect(told).toEqual([damage]);
  stop();
  damageOf(() => reconciledRow.decode({ rowKey: "R" }));
  expect(told).toHaveLength(1);
});
