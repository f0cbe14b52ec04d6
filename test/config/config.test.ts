import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseConfig } from "../../src/shared/config/config.ts";
import { HOST_SETTINGS } from "../../tools/host-settings.ts";
import { SETTINGS } from "../../src/shared/config/settings.ts";

const storage = { AzureWebJobsStorage: "UseDevelopmentStorage=true" };
const development = { ...storage, AZURE_FUNCTIONS_ENVIRONMENT: "Development" };
const randomSecret = () => randomBytes(24).toString("base64url");
const randomDataKey = () => randomBytes(32).toString("base64");
const production = {
  ...storage,
  PUBLIC_BASE_URL: "https://api.example.com/api",
  SESSION_SECRET: randomSecret(),
  GRANT_SECRET: randomSecret(),
  KEY_PEPPER: randomSecret(),
  DATA_KEYS: JSON.stringify({ k2026: randomDataKey() }),
};

function withTwin(key: string): string {
  return JSON.stringify({ k1: key, k2: key });
}

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

  test.each(["Gitw50#2", "PQRS/WXYZ", "50%zz", "pa?ss"])(
    "a password %j in MAIL_URL stops the start, and the words say how it is written",
    (password) => {
      const MAIL_URL = `smtps://relay:${password}@smtp.example.com`;
      const problems = problemsOf({ ...development, MAIL_URL, MAIL_FROM: "relay@example.com" });
      expect(problems).toMatch(/- MAIL_URL: .*percent-encoded: %23 for #/);
      expect(problems).not.toContain(password);
    },
  );

  test("a plus sign in MAIL_URL is one", () => {
    const MAIL_URL = "smtps://re%40lay:p+s%2Fs@smtp.example.com";
    const { mail } = parseConfig({ ...development, MAIL_URL, MAIL_FROM: "relay@example.com" });
    expect(mail).toMatchObject({ user: "re@lay", password: "p+s/s" });
  });

  test("the environment is production where the settings don't name one", () => {
    expect(parseConfig(production).production).toBe(true);
  });

  test.each(["production", "PRODUCTION", "Prod", "Staging", "development", "Development ", "0"])(
    "%j is no environment, and stops the start",
    (value) => {
      for (const settings of [production, development])
        expect(problemsOf({ ...settings, AZURE_FUNCTIONS_ENVIRONMENT: value })).toContain(
          "- AZURE_FUNCTIONS_ENVIRONMENT: must be one of Production, Development",
        );
    },
  );

  test.each(["SESSION_SECRET", "GRANT_SECRET", "KEY_PEPPER", "DATA_KEYS"])(
    "production does not start without %s, nor with an empty one",
    (name) => {
      expect(problemsOf({ ...production, [name]: "" })).toContain(`${name}: must be given`);
    },
  );

  const { Values: example } = JSON.parse(readFileSync("local.settings.json.example", "utf8")) as {
    Values: Record<string, string>;
  };
  const published = Object.entries(example).filter(([name]) => /_(SECRET|PEPPER|KEYS)$/.test(name));

  test.each(published)("production refuses the %s that the example publishes", (name, value) => {
    expect(published.length).toBe(8);
    const id = name.replace(/_SECRET$/, "_ID");
    const app = id in example ? { [id]: "1" } : {};
    expect(problemsOf({ ...production, ...app, [name]: value })).toMatch(
      new RegExp(`- ${name}: is (published|the sandbox's)`),
    );
  });

  test("production refuses what a development machine uses where nothing is given", () => {
    const { identity } = parseConfig(development);
    const builtIn = {
      SESSION_SECRET: identity.sessionSecret,
      GRANT_SECRET: identity.grantSecret,
      KEY_PEPPER: identity.keyPepper,
      DATA_KEYS: JSON.stringify(
        Object.fromEntries(
          [...identity.dataKeys].map(([id, key]) => [id, Buffer.from(key).toString("base64")]),
        ),
      ),
    };
    const message = problemsOf({ ...production, ...builtIn });
    for (const name of Object.keys(builtIn))
      expect(message).toContain(`- ${name}: is published with the source code`);
  });

  const TRIVIAL: readonly string[] = [
    "a".repeat(32),
    "ab".repeat(20),
    "changeme-changeme-changeme-changeme",
    "abcdefghijklmnopqrstuvwxyz0123456789",
    "98765432109876543210987654321098",
    "qwertyuiopasdfghjklzxcvbnm123456",
    "0".repeat(24) + "abcdefgh",
  ];
  test.each(TRIVIAL)(
    "production refuses %j as a secret, a development machine takes it",
    (value) => {
      const message = problemsOf({ ...production, KEY_PEPPER: value });
      expect(message).toContain("- KEY_PEPPER: is too easy to guess");
      expect(message).not.toContain(value);
      expect(problemsOf({ ...development, KEY_PEPPER: value })).toBe("");
      expect(problemsOf({ ...production, KEY_PEPPER_PREVIOUS: value })).toContain(
        "- KEY_PEPPER_PREVIOUS: is too easy to guess",
      );
    },
  );

  test("production takes every secret that a generator of random texts makes", () => {
    for (let round = 0; round < 300; round += 1)
      for (const encoding of ["hex", "base64", "base64url"] as const)
        expect(
          problemsOf({
            ...production,
            SESSION_SECRET: randomBytes(24).toString(encoding),
            DATA_KEYS: JSON.stringify({ a: randomDataKey(), b: randomDataKey() }),
          }),
        ).toBe("");
  });

  test.each([
    ["GRANT_SECRET", { GRANT_SECRET: production.SESSION_SECRET }],
    ["KEY_PEPPER", { KEY_PEPPER: production.GRANT_SECRET }],
    ["GRANT_SECRET_PREVIOUS", { GRANT_SECRET_PREVIOUS: production.SESSION_SECRET }],
    ["DATA_KEYS", { DATA_KEYS: withTwin(randomDataKey()) }],
  ])("production refuses a %s that has another purpose already", (name, settings) => {
    expect(problemsOf({ ...production, ...settings })).toContain(
      `- ${name}: must be another secret`,
    );
  });

  test("a rotation may not have changed a secret yet", () => {
    const same = { KEY_PEPPER_PREVIOUS: production.KEY_PEPPER };
    expect(problemsOf({ ...production, ...same })).toBe("");
  });

  test.each([
    ["ALLOW_SIGN_UP", "ALLOW_SIGNUP"],
    ["OUTBOUND_ALLOW_CIDR", "OUTBOUND_ALLOW_CIDRS"],
    ["bcrypt_cost", "BCRYPT_COST"],
    ["SESSION_SECERT", "SESSION_SECRET"],
    ["QUOTA_FACEBOOK_REEL", "QUOTA_FACEBOOK_REELS"],
  ])("%s is a mistyped %s, and stops the start", (given, meant) => {
    expect(problemsOf({ ...development, [given]: "x" })).toContain(
      `- ${given}: must be spelled ${meant}`,
    );
  });

  test("the names of the host and of other programs are not taken for mistyped settings", () => {
    const others = [
      ...Object.keys(HOST_SETTINGS),
      ...Object.keys(process.env),
      "AZURE_TENANT_ID",
      "AZURE_CLIENT_IDS",
      "AzureWebJobsStorage__blobServiceUri",
      "FUNCTIONS_EXTENSION_VERSION",
      "LOGLEVEL",
      "OTEL_SERVICE_NAME",
      "WEBSITE_SITE_NAME",
    ];
    expect(
      problemsOf({ ...Object.fromEntries(others.map((name) => [name, "x"])), ...development }),
    ).toBe("");
  });

  test.each([
    ["PUBLIC_BASE_URL", "https://user:secret@api.example.com/api"],
    ["PUBLIC_BASE_URL", "https://api.example.com/api?code=1"],
    ["PUBLIC_BASE_URL", "https://api.example.com/api#top"],
    ["OUTBOUND_HOST_MAP", '{"Graph.facebook.com":"http://127.0.0.1:7072"}'],
    ["OUTBOUND_HOST_MAP", '{"graph.facebook.com":"http://127.0.0.1:7072/v26.0"}'],
    ["DATA_KEYS", `{"k1":"${"!".repeat(4)}${Buffer.alloc(32, 5).toString("base64")}"}`],
    ["DATA_KEYS", `{"2026":"${Buffer.alloc(32, 5).toString("base64")}"}`],
    ["ENTRA_TENANT_ID", "contoso.onmicrosoft.com"],
    ["ENTRA_TENANT_ID", "common"],
    ["OPERATOR_ISSUER", " https://id.example.com"],
    ["FACEBOOK_APP_ID", "1200000001 "],
    ["LEG_RETRY_SECONDS", "5,99999999"],
    ["LEG_RETRY_SECONDS", "9".repeat(400)],
    ["WEBHOOK_RETRY_SECONDS", Array.from({ length: 51 }, () => "1").join(",")],
    ["DATA_STORAGE__accountName", "evil.example.com/?"],
  ])("%s can't be %s", (name, value) => {
    expect(problemsOf({ ...development, [name]: value })).toContain(`- ${name}: must`);
  });

  test.each(["SERVICE_URL", "SUPPORT_URL", "DASHBOARD_URL", "OPERATOR_JWKS_URL"])(
    "%s is an https URL in production",
    (name) => {
      expect(problemsOf({ ...production, [name]: "http://id.example.com/" })).toContain(
        `- ${name}: must be an https URL in production`,
      );
    },
  );

  test("a storage account is given by a connection string or by its name", () => {
    expect(
      problemsOf({ ...development, DATA_STORAGE: "x", DATA_STORAGE__accountName: "data" }),
    ).toContain("DATA_STORAGE, DATA_STORAGE__accountName: must not be given both");
  });

  test("files are in an account of their own, in development else in the host's", () => {
    const named = { MEDIA_STORAGE__accountName: "stfilesexample" };
    expect(parseConfig({ ...production, ...named }).storage.media).toMatchObject({
      kind: "identity",
      accountName: "stfilesexample",
    });
    expect(parseConfig(production).storage.media).toBeUndefined();
    const { host, media } = parseConfig(development).storage;
    expect(media).toEqual(host);
  });

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

const TENANT = "5a2db0c5-0000-4000-8000-5a2db0c50000";

describe("operators", () => {
  const operatorsOf = (more: Record<string, string>) =>
    parseConfig({ ...development, ...more }).identity.operators;

  test("derive from the tenant, with both forms of its issuer", () => {
    expect(operatorsOf({ ENTRA_TENANT_ID: TENANT, OPERATOR_AUDIENCE: "api://relay" })).toEqual({
      issuers: [
        `https://login.microsoftonline.com/${TENANT}/v2.0`,
        `https://sts.windows.net/${TENANT}/`,
      ],
      audiences: ["api://relay"],
      jwksUrl: `https://login.microsoftonline.com/${TENANT}/discovery/v2.0/keys`,
      tenantId: TENANT,
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
    ["a tenant without audience", { ENTRA_TENANT_ID: TENANT }],
    ["an audience without issuer", { OPERATOR_AUDIENCE: "a" }],
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
