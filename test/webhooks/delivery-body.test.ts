import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { connection } from "../../src/shared/connections/answer-schema.ts";
import { newId } from "../../src/shared/runtime/ids.ts";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import { post } from "../../src/shared/publishing/answer-schema.ts";
import { legRecord, postRecord } from "../../src/shared/publishing/read/post-view.ts";
import { event as eventSchema } from "../../src/shared/webhooks/answer-schema.ts";
import {
  BODY_BYTES_MAX,
  deliveryBody,
} from "../../src/shared/webhooks/deliveries/send-delivery.ts";
import { type Event, eventPayload, toEvent, toEventRow } from "../../src/shared/events/events.ts";
import { draftOf, type GivenLeg, legOf, NOW, postOf } from "../publishing/fixtures.ts";

const ids = {
  postId: newId("post", NOW),
  applicationId: newId("application", NOW),
  profileId: newId("profile", NOW),
  connectionId: newId("connection", NOW),
};

function eventOf(data: Event["data"], type: Event["type"] = "post.succeeded"): Event {
  const { applicationId, profileId, postId } = ids;
  const about = { applicationId, profileId, postId, sequence: 7 };
  const origin = { traceId: null, requestId: null };
  return { id: newId("event", NOW), type, createdAt: NOW.toISOString(), ...about, data, origin };
}

const bytesOf = (body: string) => Buffer.byteLength(body);

const startOf = (text: string, length: number) => text.slice(0, length).toWellFormed();

/** What its fields may hold, of a text that is as long in JSON as any. */
function aPostOf(
  text: string,
  { filler = text, of = {} }: { readonly filler?: string; readonly of?: GivenLeg } = {},
) {
  const url = `https://media.example.com/${"a".repeat(2_000)}`;
  const media = {
    mediaUrls: Array(20).fill(url),
    altTexts: Array(20).fill(startOf(filler, 10_000)),
  };
  const entries = Array.from({ length: 50 }, (_, index) => [`name ${index}`, startOf(filler, 500)]);
  const draft = draftOf({
    text,
    networks: NETWORK_NAMES,
    ...media,
    platformOptions: Object.fromEntries(NETWORK_NAMES.map((name) => [name, { text, ...media }])),
    externalId: startOf(filler, 255) || null,
    metadata: Object.fromEntries(entries),
  });
  const legs = NETWORK_NAMES.map((network) =>
    legOf({ network, state: "done", connectionId: ids.connectionId, ...of }),
  );
  const { applicationId, profileId, postId: id } = ids;
  const view = postRecord({ post: postOf({ id, applicationId, profileId, draft }), legs });
  const [leg] = legs;
  if (leg === undefined) throw new Error("no network");
  return { post: view, leg: legRecord(draft, leg, undefined) };
}

/** Ends of a text that is cut in a pair have no place in UTF-8. */
const BASE_URL = "https://relay.example.net/api";

const isWhole = (value: unknown): boolean => {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return Object.values(value).every(isWhole);
};

describe("the body of a delivery", () => {
  test("the body of an event that fits is the event, byte for byte", () => {
    const small = eventOf({ ...aPostOf("Hello", { filler: "" }), note: "" });
    const { post: small0 } = aPostOf("Hello", { filler: "" });
    const fitting = eventOf({ post: { ...small0, mediaUrls: [], platformOptions: {} } });
    expect(deliveryBody(fitting, BASE_URL)).toBe(JSON.stringify(eventPayload(fitting, BASE_URL)));
    const room = BODY_BYTES_MAX - bytesOf(deliveryBody(eventOf({ note: "" }), BASE_URL));
    const full = eventOf({ note: "x".repeat(room) });
    expect(bytesOf(deliveryBody(full, BASE_URL))).toBe(BODY_BYTES_MAX);
    expect(deliveryBody(full, BASE_URL)).toBe(JSON.stringify(eventPayload(full, BASE_URL)));
    const over = deliveryBody(eventOf({ note: "x".repeat(room + 1) }), BASE_URL);
    expect(JSON.parse(over)).toMatchObject({ truncated: true });
    expect(bytesOf(deliveryBody(small, BASE_URL))).toBeLessThanOrEqual(BODY_BYTES_MAX);
  });

  test.each([
    ["letters", "x".repeat(63_206)],
    ["characters of three bytes", "語".repeat(63_206)],
    ["surrogate pairs", `a${"😀".repeat(31_602)}`],
    ["what JSON escapes", "\u0001".repeat(63_206)],
  ])("the body of the largest post, in %s, fits, is valid and has the outcome", (_, text) => {
    const result = {
      externalId: "at://did:plc:abc/app.bsky.feed.post/3k",
      url: "https://b.example/1",
    };
    const of = { result };
    const event = eventOf(aPostOf(text, { of }), "leg.succeeded");
    expect(bytesOf(JSON.stringify(eventPayload(event, BASE_URL)))).toBeGreaterThan(BODY_BYTES_MAX);
    const body = deliveryBody(event, BASE_URL);
    expect(bytesOf(body)).toBeLessThanOrEqual(BODY_BYTES_MAX);
    const sent = JSON.parse(body);
    expect(isWhole(sent)).toBe(true);
    expect(() => eventSchema().parse(sent)).not.toThrow();
    expect(() => post().parse(sent.data.post)).not.toThrow();
    const { data: _data, ...about } = eventPayload(event, BASE_URL);
    expect(sent).toMatchObject({ ...about, truncated: true });
    expect(sent.data.leg).toEqual(event.data["leg"]);
    const whole = aPostOf(text, { of }).post;
    expect(sent.data.post).toEqual({
      ...whole,
      text: expect.stringMatching(/…$/),
      mediaUrls: [],
      altTexts: [],
      platformOptions: {},
      metadata: sent.data.post.metadata,
      externalId: sent.data.post.externalId,
    });
    expect(sent.data.post.text.length).toBeLessThanOrEqual(1_000);
  });

  test("the shortened body of a long post keeps the fields by which its sender recognizes it", () => {
    const event = eventOf({ post: aPostOf("語".repeat(30_000), { filler: "Grüße" }).post });
    const { data } = JSON.parse(deliveryBody(event, BASE_URL));
    const whole = event.data["post"];
    expect(data.post).toEqual({
      ...(whole as object),
      text: `${"語".repeat(999)}…`,
      mediaUrls: [],
      altTexts: [],
      platformOptions: {},
    });
  });

  test("a body fits and stays valid with any text of networks about accounts and refusals", () => {
    const huge = "\u0002".repeat(5_000);
    const words = { rule: huge, values: { value: huge }, field: huge, networkCode: huge };
    const of = {
      account: { id: huge, username: huge, url: huge },
      error: { code: "network_unavailable", mediaIndex: null, ...words },
      warnings: Array.from({ length: 40 }, () => ({
        code: "near_limit" as const,
        rule: huge,
        values: { value: huge },
        field: huge,
        mediaIndex: null,
      })),
      result: { externalId: huge, url: huge },
    } as const;
    const sent = JSON.parse(deliveryBody(eventOf(aPostOf(huge, { of }), "leg.failed"), BASE_URL));
    expect(bytesOf(JSON.stringify(sent))).toBeLessThanOrEqual(BODY_BYTES_MAX);
    expect(() => eventSchema().parse(sent)).not.toThrow();
    expect(sent).toMatchObject({ truncated: true, type: "leg.failed" });
  });

  test("the shortened body of a connection keeps its ids and its status", () => {
    const at = NOW.toISOString();
    const { connectionId: id, profileId, applicationId } = ids;
    const name = "é".repeat(20_000);
    const account = { id: "1", username: name, displayName: name, avatarUrl: name, url: name };
    const about = { id, profileId, applicationId, platform: "mastodon", status: "active" } as const;
    const view = {
      ...about,
      account: { ...account, kind: "account" },
      instanceUrl: null,
      scopes: Array(900).fill("a:scope"),
      missingScopes: Array(900).fill("a:scope"),
      unavailableFeatures: ["firstComment"],
      limits: { note: name },
      quota: null,
      expiresAt: at,
      lastUsedAt: null,
      lastError: null,
      createdAt: at,
      updatedAt: at,
    };
    const sent = JSON.parse(
      deliveryBody(eventOf({ connection: view }, "connection.linked"), BASE_URL),
    );
    expect(() => connection().parse(sent.data.connection)).not.toThrow();
    expect(sent.data.connection).toMatchObject({ ...about, createdAt: at, expiresAt: at });
  });

  test("a body is never larger than 64 KiB, cuts no surrogate pair, and is the same when read from storage", () => {
    const text = fc.string({ unit: "binary", maxLength: 40 });
    const repeated = fc
      .tuple(text, fc.integer({ min: 0, max: 2_000 }))
      .map(([unit, times]) => unit.repeat(times));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ maxDepth: 3 }, repeated, fc.integer(), tie("list"), tie("record")),
      list: fc.array(tie("tree"), { maxLength: 30 }),
      record: fc.dictionary(text, tie("tree"), { maxKeys: 30 }),
    }));
    const data = fc.dictionary(fc.constantFrom("post", "leg", "connection", "balance"), tree);
    fc.assert(
      fc.property(data, (made) => {
        // As storage gives it back: JSON.
        const event = eventOf(JSON.parse(JSON.stringify(made)));
        const body = deliveryBody(event, BASE_URL);
        expect(bytesOf(body)).toBeLessThanOrEqual(BODY_BYTES_MAX);
        const sent = JSON.parse(body);
        expect(isWhole(sent) || !isWhole(event.data)).toBe(true);
        expect(eventSchema().safeParse(sent).success).toBe(true);
        if (sent.truncated === undefined)
          expect(body).toBe(JSON.stringify(eventPayload(event, BASE_URL)));
        const isStorable = JSON.stringify(event.data).length < 500_000;
        if (isStorable)
          expect(deliveryBody(toEvent(toEventRow("E|1", event)), BASE_URL)).toBe(body);
      }),
      { numRuns: 60 },
    );
  });
});
