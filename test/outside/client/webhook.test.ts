import { createHmac } from "node:crypto";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RelayWebhookError, verifyWebhook } from "../../../clients/typescript/src/index.ts";
import { PREVIOUS, VECTOR } from "../../webhooks/vector.ts";

const { body, eventId, secret, timestamp, v1, standard } = VECTOR;
const OWN = "x-social-restapi-signature";
const own = (signatures: string) => ({ [OWN]: `t=${timestamp},${signatures}` });
const ofStandard = (signature: string) => ({
  "webhook-id": eventId,
  "webhook-timestamp": String(timestamp),
  "webhook-signature": signature,
});

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: timestamp * 1000 }));
afterEach(() => void vi.useRealTimers());

test.each<[string, Parameters<typeof verifyWebhook>[0], string]>([
  ["our signature", own(`v1=${v1}`), secret],
  ["our signature, as fetch has headers", new Headers(own(`v1=${v1}`)), secret],
  [
    "our signature under a name in capitals",
    { "X-Social-Restapi-Signature": own(`v1=${v1}`)[OWN] ?? "" },
    secret,
  ],
  ["one of two, the first", own(`v1=${v1},v1=${PREVIOUS.v1}`), secret],
  ["one of two, the second", own(`v1=${v1},v1=${PREVIOUS.v1}`), PREVIOUS.secret],
  ["the standard's", ofStandard(`v1,${standard}`), secret],
  [
    "the standard's, the second of two",
    ofStandard(`v1,${standard} v1,${PREVIOUS.standard}`),
    PREVIOUS.secret,
  ],
  ["the standard's beside a version of later", ofStandard(`v1a,AAAA v1,${standard}`), secret],
  ["both", { ...own(`v1=${v1}`), ...ofStandard(`v1,${standard}`) }, secret],
  [
    "one that is right beside one that isn't",
    { ...own("v1=00"), ...ofStandard(`v1,${standard}`) },
    secret,
  ],
])("takes a delivery with %s", async (_, headers, given) => {
  const bytes = new TextEncoder().encode(body);
  for (const form of [body, bytes, bytes.buffer])
    expect((await verifyWebhook(headers, form, given)).id).toBe(eventId);
});

test.each<[string, Record<string, string | string[]>, string, string]>([
  ["no signature", {}, body, secret],
  ["an empty signature", { [OWN]: "" }, body, secret],
  ["another body", own(`v1=${v1}`), `${body} `, secret],
  ["another secret", own(`v1=${v1}`), body, PREVIOUS.secret],
  ["another time", { [OWN]: `t=${timestamp + 1},v1=${v1}` }, body, secret],
  ["no time", { [OWN]: `v1=${v1}` }, body, secret],
  ["a time that is none", { [OWN]: `t=x,v1=${v1}` }, body, secret],
  ["a time of many digits", { [OWN]: `t=${"9".repeat(5_000)},v1=${v1}` }, body, secret],
  ["half a signature", own(`v1=${v1.slice(0, 32)}`), body, secret],
  ["more than a signature", own(`v1=${v1}00`), body, secret],
  ["a signature of another version", own(`v0=${v1}`), body, secret],
  ["a signature of other letters", own("v1=é"), body, secret],
  [
    "another id, by the standard",
    { ...ofStandard(`v1,${standard}`), "webhook-id": "evt_2" },
    body,
    secret,
  ],
  ["headers that came twice", { [OWN]: [`t=${timestamp}`, `v1=${PREVIOUS.v1}`] }, body, secret],
])("refuses a delivery with %s", async (_, headers, given, key) => {
  await expect(verifyWebhook(headers, given, key)).rejects.toThrow(RelayWebhookError);
});

test("refuses what is more than 5 minutes off, by both forms", async () => {
  for (const headers of [own(`v1=${v1}`), ofStandard(`v1,${standard}`)]) {
    for (const off of [-300, 300]) {
      vi.setSystemTime((timestamp + off) * 1000);
      expect((await verifyWebhook(headers, body, secret)).type).toBe("webhook.test");
    }
    for (const off of [-301, 301]) {
      vi.setSystemTime((timestamp + off) * 1000);
      await expect(verifyWebhook(headers, body, secret)).rejects.toThrow("5 minutes off");
    }
  }
});

test("tells a mistake of the program from a delivery that isn't ours", async () => {
  const headers = own(`v1=${v1}`);
  for (const wrong of ["", "secret", "whsec_é", v1])
    await expect(verifyWebhook(headers, body, wrong)).rejects.toThrow(TypeError);
  for (const none of [undefined, body])
    await expect(verifyWebhook(none as unknown as Headers, body, secret)).rejects.toThrow(
      "takes headers, body and secret, in this order",
    );
  const parsed = JSON.parse(body) as string;
  await expect(verifyWebhook(headers, parsed, secret)).rejects.toThrow("not parsed");
});

test("says what may be wrong here when a delivery doesn't fit", async () => {
  const refusal = (...given: Parameters<typeof verifyWebhook>) =>
    verifyWebhook(...given).then(String, String);
  const headers = own(`v1=${v1}`);
  expect(await refusal(headers, body, PREVIOUS.secret)).toContain("the endpoint's current secret");
  const written = JSON.stringify(JSON.parse(body), null, 2);
  expect(await refusal(headers, written, secret)).toContain("the body as it came, not parsed");
  expect(await refusal({}, body, secret)).toContain("Pass all of its headers.");
  vi.setSystemTime((timestamp - 7_200) * 1000);
  expect(await refusal(headers, body, secret)).toContain("set the clock here");
});

test("refuses what is signed and no event", async () => {
  const key = Buffer.from(secret.slice(6), "base64");
  for (const text of ["", "null", "[]", "<html>"]) {
    const mac = createHmac("sha256", key).update(`${timestamp}.${text}`).digest("hex");
    await expect(verifyWebhook(own(`v1=${mac}`), text, secret)).rejects.toThrow(RelayWebhookError);
  }
});
