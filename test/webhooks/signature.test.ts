import { createHmac } from "node:crypto";
import { createRequire } from "node:module";
import * as fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import {
  newSigningSecret,
  secretHint,
  signature,
  signatureHeaders,
  standardSignature,
} from "../../src/shared/webhooks/endpoints/signature.ts";
import { INSTALL_MS_MAX, installPackages } from "../setup/install-packages.ts";
import { PREVIOUS, VECTOR } from "./vector.ts";

const { secret, eventId, timestamp, body } = VECTOR;
const toSign = { eventId, timestamp, body };

describe("a signature", () => {
  test("a signature equals that of the fixed vector, in both forms", () => {
    expect(signature(toSign, [secret])).toBe(`t=${timestamp},v1=${VECTOR.v1}`);
    expect(standardSignature(toSign, [secret])).toBe(`v1,${VECTOR.standard}`);
  });

  test("during a rotation there are two signatures, the newest secret's first", () => {
    const secrets = [secret, PREVIOUS.secret];
    expect(signature(toSign, secrets)).toBe(`t=${timestamp},v1=${VECTOR.v1},v1=${PREVIOUS.v1}`);
    expect(standardSignature(toSign, secrets)).toBe(
      `v1,${VECTOR.standard} v1,${PREVIOUS.standard}`,
    );
  });

  test("a signature covers the exact bytes, whatever they are", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        (text, key) => {
          const made = signature({ ...toSign, body: text }, [
            `whsec_${Buffer.from(key).toString("base64")}`,
          ]);
          const bytes = Buffer.concat([Buffer.from(`${timestamp}.`), Buffer.from(text)]);
          const digest = createHmac("sha256", key).update(bytes).digest("hex");
          expect(made).toBe(`t=${timestamp},v1=${digest}`);
        },
      ),
    );
  });

  test("a signature changes with the secret, the time, the event and the body", () => {
    const changed = [
      [toSign, PREVIOUS.secret],
      [{ ...toSign, timestamp: timestamp + 1 }, secret],
      [{ ...toSign, eventId: eventId.replace("B", "C") }, secret],
      [{ ...toSign, body: body.replace("test", "tesu") }, secret],
    ] as const;
    const made = changed.map(([input, key]) => standardSignature(input, [key]));
    expect(new Set([...made, standardSignature(toSign, [secret])]).size).toBe(5);
  });
});

test("a new secret holds 32 random bytes, and its hint does not give it away", () => {
  const made = Array.from({ length: 50 }, newSigningSecret);
  expect(new Set(made).size).toBe(50);
  for (const one of made) {
    expect(one).toMatch(/^whsec_[0-9A-Za-z+/]{43}=$/);
    expect(Buffer.from(one.slice("whsec_".length), "base64")).toHaveLength(32);
    expect(secretHint(one)).toBe(`${one.slice(0, 10)}…`);
  }
});

interface Verifier {
  verify(body: string, headers: Readonly<Record<string, string>>): unknown;
}
type VerifierClass = new (secret: string) => Verifier;

describe("the libraries of others", () => {
  const peers = new URL("../outside/peers/", import.meta.url);
  let verifiers: readonly VerifierClass[];
  beforeAll(async () => {
    await installPackages(peers);
    const load = createRequire(new URL("package.json", peers));
    // Safe: both packages export a class of this name and shape.
    verifiers = ["standardwebhooks", "svix"].map(
      (name) => (load(name) as { Webhook: VerifierClass }).Webhook,
    );
  }, INSTALL_MS_MAX);

  const fresh = () => ({ ...toSign, timestamp: Math.floor(Date.now() / 1000) });

  test("other libraries verify a signature, during a rotation with either secret", () => {
    const headers = signatureHeaders(fresh(), [secret, PREVIOUS.secret]);
    for (const Library of verifiers)
      for (const key of [secret, PREVIOUS.secret])
        expect(new Library(key).verify(body, headers)).toEqual(JSON.parse(body));
  });

  test("other libraries refuse another body, another secret and an old time", () => {
    const headers = signatureHeaders(fresh(), [secret]);
    for (const Library of verifiers) {
      const verifier = new Library(secret);
      expect(() => verifier.verify(body.replace("test", "tesu"), headers)).toThrow();
      expect(() => new Library(newSigningSecret()).verify(body, headers)).toThrow();
      expect(() => verifier.verify(body, signatureHeaders(toSign, [secret]))).toThrow();
    }
  });
});
