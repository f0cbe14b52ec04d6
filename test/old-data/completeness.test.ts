import { expect, test } from "vitest";
import { dumpedMessages, dumpedRows, knownOfDump, type DumpedRow } from "./dumped.ts";

type Is = (row: DumpedRow) => boolean;

const rows = dumpedRows();
const messages = dumpedMessages();

const text = ({ columns }: DumpedRow, column: string): string => {
  const value = columns[column];
  return typeof value === "object" ? value.value : String(value ?? "");
};
const key =
  (start: string): Is =>
  ({ rowKey }) =>
    rowKey.startsWith(start);
const has =
  (column: string, value?: string | number | boolean): Is =>
  (row) =>
    value === undefined ? text(row, column) !== "" : row.columns[column] === value;
const lacks =
  (column: string): Is =>
  (row) =>
    text(row, column) === "";
const all =
  (...conditions: readonly Is[]): Is =>
  (row) =>
    conditions.every((is) => is(row));
const within =
  (column: string, part: string): Is =>
  (row) =>
    text(row, column).includes(part);

/** `P|profile|time|post`, and the legs' keys with a network behind it. */
const partsOfKey = ({ rowKey }: DumpedRow) => rowKey.split("|").length;
const isPost: Is = (row) => key("P|")(row) && partsOfKey(row) === 4;
const isLeg: Is = (row) => key("P|")(row) && partsOfKey(row) === 5;
const post = (status: string) => all(isPost, has("status", status));
const leg = (status: string, ...more: readonly Is[]) => all(isLeg, has("status", status), ...more);
const delivery = (status: string, ...more: readonly Is[]) =>
  all(key("D|"), has("status", status), ...more);
const connection = (network: string, status: string, ...more: readonly Is[]) =>
  all((row) => row.rowKey === network, has("status", status), ...more);
const sealedBy = (column: string, dataKey: string) => within(column, `v1.${dataKey}.`);

/** Every kind of row that 0.2.0 wrote, in every state, by table. */
const KINDS: Readonly<Record<string, Readonly<Record<string, Is>>>> = {
  core: {
    wallet: all(key("W"), has("dailyBudget", -1)),
    "wallet with a budget": all(key("W"), has("dailyBudget", 1)),
    "wallet with something reserved": all(key("W"), (row) => Number(row.columns["reserved"]) > 0),
    "wallet with a pace": all(key("W"), has("paceUntil")),
    "ledger: credit": all(key("L|"), has("type", "credit")),
    "ledger: debit": all(key("L|"), has("type", "debit")),
    "ledger: reserve": all(key("L|"), has("type", "reserve")),
    "ledger: settle": all(key("L|"), has("type", "settle")),
    "ledger: release": all(key("L|"), has("type", "release")),
    "ledger: of a retry": all(key("L|"), has("operation", "posts.retry_leg")),
    "trace of a credit": all(key("O|"), has("operation", "billing.credit")),
    "trace of a debit": all(key("O|"), (row) => !text(row, "operation").startsWith("billing.")),
    "trace of a refusal": all(key("O|"), has("operation", "billing.budget_reached")),
    "idempotency key": key("I|"),
    "open work": key("X|"),
    "mark of the reconciliation": (row) => row.rowKey === "R",
    "event on its way": key("E|"),
    "scheduled post": post("scheduled"),
    "post under way": post("processing"),
    "post that succeeded": post("succeeded"),
    "post that succeeded in part": post("partial"),
    "post that failed": post("failed"),
    "post that was canceled": post("canceled"),
    "leg of a scheduled post": leg("pending", has("holdState", "none")),
    "leg that nobody took": leg("pending", has("holdState", "open"), has("attempts", 0)),
    "leg that waits for its next attempt": leg("pending", has("notBefore"), has("retries", 1)),
    "leg that is asked to be sent again": leg("pending", has("resend", true), has("sentAt")),
    "leg in the hands of a worker": leg(
      "publishing",
      has("phase", "claimed"),
      has("leaseUntil"),
      lacks("sentAt"),
    ),
    "leg past its call": leg("publishing", has("phase", "sent"), has("leaseUntil"), has("sentAt")),
    "leg whose media is worked on": leg(
      "publishing",
      has("phase", "waiting"),
      has("notBefore"),
      has("remote0"),
    ),
    "leg that succeeded": leg("succeeded", has("networkPostId"), has("holdState", "captured")),
    "leg that may be retried": leg("failed", within("error", '"network_unavailable"')),
    "leg that may not be retried": leg("failed", within("error", '"content_rejected"')),
    "leg of unknown outcome": leg("failed", within("error", '"outcome_unknown"'), has("sentAt")),
    "leg of an account that is refused": leg("failed", within("error", "needs_reauth")),
    "leg without an account": leg("failed", within("error", '"connection_missing"')),
    "leg that was skipped": leg("skipped"),
    ...Object.fromEntries(
      ["facebook", "instagram", "linkedin", "bluesky", "mastodon"].flatMap((network) => [
        [`${network}: past its call`, leg("publishing", has("network", network), has("sentAt"))],
        [`${network}: succeeded`, leg("succeeded", has("network", network))],
      ]),
    ),
  },
  tenants: {
    "active platform": all((row) => row.rowKey === "P", has("status", "active")),
    "suspended platform": all((row) => row.rowKey === "P", has("status", "suspended")),
    "platform with a disabled application": all((row) => row.rowKey === "P", has("disabled0")),
    "platform in the list of all": (row) => row.partitionKey === "platforms",
    "active application": all(key("A|"), has("status", "active")),
    "disabled application": all(key("A|"), has("status", "disabled")),
    user: all(key("U|"), has("passwordHash"), lacks("totpSecret")),
    "user with TOTP": all(key("U|"), has("totpConfirmed", true), has("recoveryHashes")),
    "user with TOTP unconfirmed": all(key("U|"), has("totpConfirmed", false), has("totpSecret")),
    "user who changed the password": all(key("U|"), has("keptSessionId")),

    "mark of removals": (row) => row.rowKey === "REMOVALS",
    "key in the list": all(key("K|"), has("status", "active")),
    "revoked key in the list": all(key("K|"), has("status", "revoked")),
    "key that is to expire in the list": all(key("K|"), has("expiresAt")),
    "roster of keys": key("KN|"),
    "active profile": all(key("F|"), has("status", "active")),
    "disabled profile": all(key("F|"), has("status", "disabled")),
    "profile that is being erased": all(key("F|"), has("status", "erasing")),
    "external id": key("X|"),
    "count of profiles": key("FN|"),
    "active endpoint": all(key("H|"), has("status", "active"), lacks("previousSecret")),
    "endpoint with two secrets": all(key("H|"), has("previousSecret")),
    "endpoint with an open circuit": all(key("H|"), has("isCircuitOpen", true)),
    "endpoint with a closed circuit": all(key("H|"), has("isCircuitOpen", false)),
    "disabled endpoint": all(key("H|"), has("status", "disabled"), within("disabledReason", "API")),
    "endpoint that was given up": all(
      key("H|"),
      has("status", "disabled"),
      within("disabledReason", "410"),
    ),
    "roster of endpoints": key("HN|"),
  },
  keys: {
    "app_admin key": all(has("scope", "app_admin"), has("status", "active")),
    "restricted key": all(has("scope", "restricted"), within("allowedProfileIds0", "prf_")),
    "restricted key without profiles": all(
      has("scope", "restricted"),
      has("allowedProfileIds0", "[]"),
    ),
    "revoked key": has("status", "revoked"),
    "key that is to expire": all(has("status", "active"), has("expiresAt")),
    "last use": (row) => row.rowKey === "U",
  },
  emails: { claim: has("userId") },
  connections: {
    facebook: connection("facebook", "active"),
    instagram: connection("instagram", "active"),
    linkedin: connection("linkedin", "active"),
    bluesky: connection("bluesky", "active"),
    mastodon: connection("mastodon", "active"),
    "by an authorisation of several accounts": connection("facebook", "active", has("grantId")),
    refused: connection("mastodon", "needs_reauth", has("lastError")),
    revoked: connection("bluesky", "revoked", lacks("credentials0")),
    "with an end that was told": connection("linkedin", "active", has("warnedExpiresAt")),
    untold: connection("mastodon", "active", has("hasUntold", "yes"), has("untold0")),
    "sealed with the first key": connection(
      "mastodon",
      "active",
      sealedBy("credentials0", "first"),
    ),
    "sealed with the second key": sealedBy("credentials0", "second"),
    "in the list of the platform": key("app_"),
    "in the list of the authorisation": ({ partitionKey }) => partitionKey.startsWith("account|"),
    count: key("CN|"),
    "walk over all": (row) => row.rowKey === "walk",
  },
  connectsessions: {
    open: has("status", "open"),
    completed: all(has("status", "completed"), within("links", '"isLinked":true')),
    canceled: has("status", "canceled"),
  },
  oauthstates: { "on its way": has("secrets0") },
  instances: { registration: has("data0") },
  accounts: {
    text: key("T|"),
    quota: key("Q|"),
    "in hand": (row) => row.rowKey === "B" && text(row, "waiters0") === "",
    "in hand, with others queued": (row) => row.rowKey === "B" && text(row, "waiters0") !== "",
  },
  due: {
    "not hinted": lacks("hintedAt"),
    hinted: has("hintedAt"),
    watermark: (row) => row.partitionKey === "watermark",
  },
  duedeliveries: {
    delivery: has("deliveryId"),
    "release of what waits": within("deliveryId", "waiting|"),
    watermark: (row) => row.partitionKey === "watermark",
  },
  deliveries: {
    succeeded: delivery("succeeded", has("deliveredAt")),
    "to be tried": delivery("pending", has("attempts", 0), lacks("lastError")),
    "to be tried again": delivery("pending", has("lastError", "http_500"), has("nextAttemptAt")),
    "in the hands of a worker": delivery("pending", has("leaseUntil")),
    "behind a circuit": delivery("pending", has("lastError", "endpoint_failing")),
    dead: delivery("dead", has("diedAt"), has("lastError", "http_500")),
    "dead by its endpoint": delivery("dead", has("lastError", "http_410")),
    "dead and redriven": delivery("dead", has("redrivenAs")),
    "in place of a dead one": delivery("succeeded", has("redriveOf")),
    "health: well": all((row) => row.rowKey === "S", has("lastSuccessAt"), lacks("openedAt")),
    "health: failing": all((row) => row.rowKey === "S", has("failingSince"), lacks("openedAt")),
    "health: circuit open": all((row) => row.rowKey === "S", has("openedAt"), has("probeAt")),
    "health: closed, others wait": all(
      (row) => row.rowKey === "S",
      has("waitingSince"),
      lacks("openedAt"),
    ),
  },
  dead: { delivery: has("deliveryId") },
  events: Object.fromEntries(
    [
      "post.scheduled",
      "post.processing",
      "post.succeeded",
      "post.partial",
      "post.failed",
      "post.canceled",
      "leg.succeeded",
      "leg.failed",
      "connection.linked",
      "connection.expiring",
      "connection.needs_reauth",
      "connection.removed",
      "billing.balance_low",
      "billing.budget_reached",
      "webhook.test",
    ].map((type) => [type, has("type", type)]),
  ),
  timeline: Object.fromEntries(
    ["network_call", "leg_claimed", "leg_waiting", "leg_settled", "retried", "webhook_sent"].map(
      (step) => [step, has("step", step)],
    ),
  ),
  erasures: {
    closing: has("stage", "closing"),
    clearing: has("stage", "clearing"),
    removing: has("stage", "removing"),
  },
  housekeeping: {
    "message that nobody could do": has("count"),
    "place of a search": (row) => row.partitionKey === "position",
  },
  dirty: {
    platform: key("plt_"),
    watermark: (row) => row.partitionKey === "watermark",
  },
  ratewindows: {
    "counts of a minute": ({ partitionKey }) => /^[0-9a-f]\|/.test(partitionKey),
    "failed log-ins": all(has("failedAt"), lacks("blockedUntil")),
    "blocked log-ins": has("blockedUntil"),
  },
};

const CASES = Object.entries(KINDS).flatMap(([table, kinds]) =>
  Object.entries(kinds).map(([kind, is]) => ({ table, kind, is })),
);

test.each(CASES)("the dump has, in $table, a row of this kind: $kind", ({ table, is }) => {
  expect(rows.filter((row) => row.table === table && is(row)).length).toBeGreaterThan(0);
});

test("the dump has no table that is not looked into here", () => {
  const tables = [...new Set(rows.map(({ table }) => table))];
  expect(tables.toSorted()).toEqual(Object.keys(KINDS).toSorted());
});

interface Message {
  readonly queue: string;
  readonly deliveryId?: string;
  readonly networks?: readonly string[];
  readonly trace?: string;
}
const parsed = messages.map(({ queue, text: json }): Message => ({ ...JSON.parse(json), queue }));
const of =
  (name: string, is: (message: Message) => boolean = () => true) =>
  (message: Message) =>
    message.queue === name && is(message);
const isTraced = ({ trace }: Message) => trace !== undefined;
const isUntraced = ({ trace }: Message) => trace === undefined;
const goesTo = (start: string) => (message: Message) =>
  message.deliveryId?.startsWith(start) === true;

/** Every kind of message that 0.2.0 sent; one that a timer sends belongs to no request. */
const MESSAGES: Readonly<Record<string, (message: Message) => boolean>> = {
  "several legs of a post": of("publish-legs", ({ networks = [] }) => networks.length > 1),
  "one leg": of("publish-legs", ({ networks = [] }) => networks.length === 1),
  "a post that is due": of("fire-posts", isTraced),
  "a post that is due, by a timer": of("fire-posts", isUntraced),
  "events of a platform": of("fan-out-events", isTraced),
  "events of a platform, by a timer": of("fan-out-events", isUntraced),
  "a delivery": of("deliver-webhooks", goesTo("dlv_")),
  "what waits at an endpoint": of("deliver-webhooks", goesTo("waiting|")),
  "publish-legs, given up": of("publish-legs-poison"),
  "fire-posts, given up": of("fire-posts-poison"),
  "fan-out-events, given up": of("fan-out-events-poison"),
  "deliver-webhooks, given up": of("deliver-webhooks-poison"),
};

test.each(Object.entries(MESSAGES))("a message of this kind waits: %s", (_, is) => {
  expect(parsed.filter(is).length).toBeGreaterThan(0);
});

test("of the messages some are seen at once and some later", () => {
  const { now } = knownOfDump();
  const isLater = ({ visibleAt }: { visibleAt: string }) => visibleAt > now;
  expect(messages.some(isLater)).toBe(true);
  expect(messages.every(isLater)).toBe(false);
});
