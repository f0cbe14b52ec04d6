import { exportJWK, generateKeyPair } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { problemOf } from "../../src/shared/networks/bluesky/oauth-client.ts";
import { parseConfig } from "../../src/shared/config/config.ts";
import { startRelay } from "../setup/relay.ts";
import type { Relay } from "../setup/relay.ts";

const BASE = "https://relay.example/api";
const METADATA = "/v1/connect/bluesky/client-metadata.json";
const KEYS = "/v1/connect/bluesky/jwks.json";

let key: string;
let relay: Relay;
let local: Relay;

beforeAll(async () => {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  key = JSON.stringify({ ...(await exportJWK(privateKey)), kid: "2026-11" });
  relay = await startRelay({ settings: { PUBLIC_BASE_URL: BASE, BLUESKY_OAUTH_KEY: key } });
  local = await startRelay();
});
afterAll(() => Promise.all([relay?.stop(), local?.stop()]));

describe("what Bluesky's servers are told about this service", () => {
  test("the metadata document is a confidential client's, under its own address", async () => {
    const { status, headers, body } = await relay.call("GET", METADATA);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(/^application\/json/);
    expect(body).toMatchObject({
      client_id: BASE + METADATA,
      client_uri: "https://relay.example",
      redirect_uris: [`${BASE}/v1/connect/callback/bluesky`],
      token_endpoint_auth_method: "private_key_jwt",
      token_endpoint_auth_signing_alg: "ES256",
      dpop_bound_access_tokens: true,
      application_type: "web",
      jwks_uri: BASE + KEYS,
    });
    expect(body.scope.split(" ")).toEqual(
      expect.arrayContaining(["atproto", "transition:generic"]),
    );
  });

  test("the service is called as the settings say, by a page of its own host alone", async () => {
    const shown = async (settings: Readonly<Record<string, string>>) => {
      const named = await startRelay({
        settings: { PUBLIC_BASE_URL: BASE, BLUESKY_OAUTH_KEY: key, ...settings },
      });
      try {
        const { body } = await named.call("GET", METADATA);
        return [body.client_name, body.client_uri];
      } finally {
        await named.stop();
      }
    };
    const own = "https://relay.example/about";
    expect(await shown({ SERVICE_NAME: "Corner Post", SERVICE_URL: own })).toEqual([
      "Corner Post",
      own,
    ]);
    const foreign = { SERVICE_URL: "https://corner.example/" };
    expect(await shown(foreign)).toEqual(["Publishing Relay", "https://relay.example"]);
  });

  test.each([
    ["SERVICE_NAME", "a:b"],
    ["SERVICE_NAME", "x".repeat(61)],
    ["SERVICE_URL", "corner.example"],
    ["SERVICE_URL", "javascript:alert(1)"],
  ])("%s %s is refused", (name, value) => {
    const given = { AZURE_FUNCTIONS_ENVIRONMENT: "Development", [name]: value };
    expect(() => parseConfig(given)).toThrow(new RegExp(name));
  });

  test("the key set holds the public half of the key and nothing else", async () => {
    const { status, body } = await relay.call("GET", KEYS);
    expect(status).toBe(200);
    const { x, y } = JSON.parse(key) as Record<string, string>;
    expect(body).toEqual({
      keys: [{ kty: "EC", crv: "P-256", x, y, kid: "2026-11", alg: "ES256", use: "sig" }],
    });
  });

  test("a service on a developer's machine has neither", async () => {
    for (const path of [METADATA, KEYS]) {
      const { status, body } = await local.call("GET", path);
      expect([status, body.error.code]).toEqual([404, "not_found"]);
    }
  });
});

describe("the setting of the key", () => {
  const parse = (given: string, base = BASE) =>
    parseConfig({
      AZURE_FUNCTIONS_ENVIRONMENT: "Development",
      AzureWebJobsStorage: "UseDevelopmentStorage=true",
      PUBLIC_BASE_URL: base,
      BLUESKY_OAUTH_KEY: given,
    }).networkApps["bluesky"];

  test.each([
    ["no JSON", "secret"],
    ["a public key alone", JSON.stringify({ kty: "EC", crv: "P-256", x: "x", y: "y", kid: "1" })],
    ["another curve", JSON.stringify({ kty: "EC", crv: "P-384", kid: "1" })],
  ])("%s is refused by name and not repeated", (_what, given) => {
    expect(() => parse(given)).toThrow(/BLUESKY_OAUTH_KEY/);
    expect(() => parse(given)).not.toThrow(new RegExp(`"${given}"`));
  });

  test("a key without a kid is refused", () => {
    const { kid: _, ...rest } = JSON.parse(key) as Record<string, string>;
    expect(() => parse(JSON.stringify(rest))).toThrow(/BLUESKY_OAUTH_KEY: .*kid/);
  });

  test("without the setting of the key there is no OAuth, but on the developer's machine", () => {
    expect(parse("")).toBeUndefined();
    expect(parse("", "http://relay.internal/api")).toBeUndefined();
    expect(parse("", "http://localhost:7071/api")).toMatchObject({ secret: "" });
    expect(parse(key)).toMatchObject({ id: BASE });
  });
});

describe("a server that does not take our client's documents", () => {
  const refusal = Object.assign(new Error("refused"), {
    payload: {},
    status: 400,
    error: "invalid_client_metadata",
  });

  test.each([
    ["Bluesky's own", "https://bsky.social", undefined],
    ["somebody's", "https://pds.example", true],
  ])("is told to operators as %s", (_whose, origin, isUnproven) => {
    const problem = problemOf(refusal, { origin });
    expect(problem.code).toBe("service_refused");
    expect(problem.isUnproven).toBe(isUnproven);
  });
});
