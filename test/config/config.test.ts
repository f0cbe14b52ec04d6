import { describe, expect, test } from "vitest";
import { parseConfig } from "../../src/shared/config/config.ts";
import { SETTINGS } from "../../src/shared/config/settings.ts";

const storage = { AzureWebJobsStorage: "UseDevelopmentStorage=true" };
const development = { ...storage, AZURE_FUNCTIONS_ENVIRONMENT: "Development" };
const secret = "s".repeat(32);
const dataKeys = JSON.stringify({ "2026": Buffer.alloc(32, 1).toString("base64") });
const production = {
  ...storage,
  PUBLIC_BASE_URL: "https://api.example.com/api",
  SESSION_SECRET: secret,
  GRANT_SECRET: secret,
  KEY_PEPPER: secret,
  DATA_KEYS: dataKeys,
};

function problemsOf(environment: Record<string, string>): string {
  try {
    parseConfig(environment);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe("settings", () => {
  test("a development machine needs nothing but storage", () => {
    const config = parseConfig(development);
    expect(config.production).toBe(false);
    expect(config.identity.allowSignup).toBe(false);
    expect(config.identity.operators).toBeUndefined();
    expect(config.storage.data).toEqual(config.storage.host);
  });

  test("the environment is production where the settings don't name one", () => {
    expect(parseConfig(production).production).toBe(true);
  });

  test.each(["SESSION_SECRET", "GRANT_SECRET", "KEY_PEPPER", "DATA_KEYS"])(
    "production does not start without %s, nor with an empty one",
    (name) => {
      expect(problemsOf({ ...production, [name]: "" })).toContain(`${name}: must be given`);
    },
  );

  test("all problems are in one message, by name", () => {
    const message = problemsOf({
      ...development,
      ALLOW_SIGNUP: "yes",
      BCRYPT_COST: "99",
      RATE_LIMIT_PER_MINUTE: "many",
      DATA_KEYS: "{",
    });
    for (const name of ["ALLOW_SIGNUP", "BCRYPT_COST", "RATE_LIMIT_PER_MINUTE", "DATA_KEYS"])
      expect(message).toContain(`- ${name}: `);
  });

  test("the problems between settings are in one message too", () => {
    const message = problemsOf({ PUBLIC_BASE_URL: "http://api.example.com", BCRYPT_COST: "4" });
    for (const name of ["SESSION_SECRET", "PUBLIC_BASE_URL", "BCRYPT_COST", "AzureWebJobsStorage"])
      expect(message).toContain(`- ${name}: `);
  });

  test("a secret's value is in no message", () => {
    const short = "too-short-to-be-a-secret";
    const message = problemsOf({
      ...production,
      SESSION_SECRET: short,
      DATA_KEYS: `{"a":"${short}"}`,
    });
    expect(message).toContain("SESSION_SECRET: must have at least 32 characters");
    expect(message).not.toContain(short);
  });

  test.each([
    ["OUTBOUND_HOST_MAP", '{"graph.facebook.com":"http://127.0.0.1:7072"}'],
    ["OUTBOUND_ALLOW_CIDRS", "127.0.0.1/32"],
    ["OUTBOUND_NAME_SERVERS", "127.0.0.1:5353"],
  ])("%s is refused in production and taken in development", (name, value) => {
    expect(problemsOf({ ...production, [name]: value })).toContain(`${name}: must not be given`);
    expect(problemsOf({ ...development, [name]: value })).toBe("");
  });

  test.each(["localhost", "127.0.0.1/33", "127.0.0.1/32;10.0.0.0/8", "127.0.0/8"])(
    "%s is no range of addresses that may be dialled",
    (range) => {
      expect(problemsOf({ ...development, OUTBOUND_ALLOW_CIDRS: range })).toContain(
        "- OUTBOUND_ALLOW_CIDRS: must be ranges of addresses",
      );
    },
  );

  test.each(["127.0.0.1", "::1", "::1/128", "10.0.0.0/8, 127.0.0.1/32,"])(
    "%s is taken as what may be dialled",
    (ranges) => {
      expect(problemsOf({ ...development, OUTBOUND_ALLOW_CIDRS: ranges })).toBe("");
    },
  );

  test.each([
    ["0", "must be from 1 to 1000000"],
    ["1000001", "must be from 1 to 1000000"],
    ["1.5", "must be a whole number"],
    ["-1", "must be a whole number"],
  ])("%s requests a minute are refused: %s", (text, problem) => {
    expect(problemsOf({ ...development, RATE_LIMIT_PER_MINUTE: text })).toContain(
      `- RATE_LIMIT_PER_MINUTE: ${problem}`,
    );
  });

  test("whatever is wrong with a setting is said in words of our own", () => {
    const texts = [
      "nope",
      "-1",
      "0",
      "999999999999",
      "  ",
      "1,2,x",
      "a:b\u0000",
      "x".repeat(3_000),
    ];
    const json = ["{", "null", "{}", "[]", "[1]", '"x"', '{"a":1}', '{"a":"b"}', '{"%":"b"}'];
    const more = ["http://", "ftp://x", '{"kty":"EC"}', '{"kty":"EC","crv":"P-256","x":1}'];
    const words = new Set<string>();
    for (const text of [...texts, ...json, ...more])
      for (const name of Object.keys(SETTINGS))
        for (const line of problemsOf({ ...development, [name]: text })
          .split("\n- ")
          .slice(1))
          words.add(line.split("\n")[0] ?? "");
    expect(words.size).toBeGreaterThan(50);
    for (const line of words)
      expect(line).toMatch(/^\w+(, \w+)*: (must|is not valid JSON: it must) /);
  });

  test("an empty setting is one that is not given", () => {
    const empty = Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, ""]));
    expect(parseConfig({ ...empty, ...development })).toEqual(parseConfig(development));
  });

  test("a lease has to be longer than a call to a network", () => {
    const equal = { LEG_LEASE_SECONDS: "60", NETWORK_TIMEOUT_MS: "60000" };
    expect(problemsOf({ ...development, ...equal })).toContain("LEG_LEASE_SECONDS");
    expect(problemsOf({ ...development, ...equal, LEG_LEASE_SECONDS: "61" })).toBe("");
  });

  test("data can live in another account than the host's own, by identity", () => {
    const { storage: parsed } = parseConfig({
      ...development,
      DATA_STORAGE__accountName: "data",
      AZURE_CLIENT_ID: "client",
    });
    expect(parsed.data).toEqual({ kind: "identity", accountName: "data", clientId: "client" });
    expect(parsed.host).toEqual({
      kind: "connection_string",
      connectionString: "UseDevelopmentStorage=true",
    });
  });
});

describe("operators", () => {
  const operatorsOf = (more: Record<string, string>) =>
    parseConfig({ ...development, ...more }).identity.operators;

  test("derive from the tenant, with both forms of its issuer", () => {
    expect(operatorsOf({ ENTRA_TENANT_ID: "tenant-1", OPERATOR_AUDIENCE: "api://relay" })).toEqual({
      issuers: [
        "https://login.microsoftonline.com/tenant-1/v2.0",
        "https://sts.windows.net/tenant-1/",
      ],
      audiences: ["api://relay"],
      jwksUrl: "https://login.microsoftonline.com/tenant-1/discovery/v2.0/keys",
      tenantId: "tenant-1",
    });
  });

  test("operators can be of any OpenID Connect issuer", () => {
    expect(
      operatorsOf({
        OPERATOR_ISSUER: "https://id.example.com",
        OPERATOR_AUDIENCE: "relay",
        OPERATOR_JWKS_URL: "https://id.example.com/keys",
      }),
    ).toEqual({
      issuers: ["https://id.example.com"],
      audiences: ["relay"],
      jwksUrl: "https://id.example.com/keys",
      tenantId: undefined,
    });
  });

  test.each([
    ["an issuer without keys", { OPERATOR_ISSUER: "https://a.example", OPERATOR_AUDIENCE: "a" }],
    [
      "keys without an issuer",
      { OPERATOR_JWKS_URL: "https://a.example/k", OPERATOR_AUDIENCE: "a" },
    ],
    [
      "no audience",
      { OPERATOR_ISSUER: "https://a.example", OPERATOR_JWKS_URL: "https://a.example/k" },
    ],
  ])("%s is a start-up error, not an open door", (_name, more) => {
    expect(problemsOf({ ...development, ...more })).toContain("OPERATOR_");
  });
});

describe("the list of settings", () => {
  test.each(Object.entries(SETTINGS))(
    "%s is explained, and its fallback is taken",
    (name, setting) => {
      expect(setting.about.length).toBeGreaterThan(10);
      if (
        setting.fallback !== null &&
        setting.fallback !== "" &&
        name !== "AZURE_FUNCTIONS_ENVIRONMENT"
      )
        expect(problemsOf({ ...development, [name]: setting.fallback })).toBe("");
    },
  );
});
