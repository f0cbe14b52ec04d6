import { readFileSync } from "node:fs";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startIssuer } from "../../../dev/issuer.ts";
import { hostEnvironment } from "../../../dev/local-settings.ts";
import { startSandbox } from "../../../sandbox/server.ts";
import { parseConfig } from "../../../src/shared/config/config.ts";
import { SETTINGS } from "../../../src/shared/config/settings.ts";

/** Read by the host itself, never by the app. */
const HOSTS_OWN = ["FUNCTIONS_WORKER_RUNTIME", "FUNCTIONS_REQUEST_BODY_SIZE_LIMIT"];

interface Example {
  readonly IsEncrypted: boolean;
  readonly Values: Readonly<Record<string, string>>;
}

const example = JSON.parse(readFileSync("local.settings.json.example", "utf8")) as Example;

describe("local.settings.json.example", () => {
  test("local.settings.json.example is a settings file of the host for a Node app, whose values are texts", () => {
    expect(example.IsEncrypted).toBe(false);
    expect(example.Values["FUNCTIONS_WORKER_RUNTIME"]).toBe("node");
    for (const value of Object.values(example.Values)) expect(value).toBeTypeOf("string");
  });

  test("local.settings.json.example is accepted as a whole", () => {
    const config = parseConfig(example.Values);
    expect(config.production).toBe(false);
    expect(config.publicBaseUrl).toBe("http://localhost:7071/api");
    expect(config.identity.allowSignup).toBe(true);
    expect(config.storage.data).toEqual({
      kind: "connection_string",
      connectionString: "UseDevelopmentStorage=true",
    });
  });

  test("holds no name that is not a setting", () => {
    const known = [...Object.keys(SETTINGS), ...HOSTS_OWN];
    expect(Object.keys(example.Values).filter((name) => !known.includes(name))).toEqual([]);
  });

  test("local.settings.json.example is refused in production", () => {
    expect(() =>
      parseConfig({ ...example.Values, AZURE_FUNCTIONS_ENVIRONMENT: "Production" }),
    ).toThrow("OUTBOUND_HOST_MAP: must not be given in production");
  });

  test("leads every host of the sandbox, and the operators' issuer, to their usual ports", async () => {
    const sandbox = await startSandbox();
    const issuer = await startIssuer({ publicOrigin: "https://login.sandbox.test" });
    await Promise.all([sandbox.stop(), issuer.stop()]);
    const { outbound, identity } = parseConfig(example.Values);
    expect(outbound.hostMap).toEqual({
      ...Object.fromEntries(sandbox.hosts.map((host) => [host, "http://127.0.0.1:7072"])),
      "login.sandbox.test": "http://127.0.0.1:7073",
    });
    expect(outbound.allowCidrs).toEqual(["127.0.0.1/32"]);
    expect(identity.operators).toMatchObject({
      issuers: [issuer.issuer],
      jwksUrl: issuer.jwksUrl,
    });
  });
});

describe("the environment of a local start", () => {
  const pieces = {
    publicBaseUrl: "http://localhost:8071/api",
    connectionString: "TableEndpoint=http://127.0.0.1:8002/devstoreaccount1",
    sandbox: { url: "http://127.0.0.1:8072", hosts: ["bsky.social"] },
    mail: { url: "smtp://127.0.0.1:8074" },
    issuer: {
      url: "http://127.0.0.1:8073",
      issuer: "https://login.sandbox.test/tenant/v2.0",
      jwksUrl: "https://login.sandbox.test/tenant/keys",
      audience: "api://relay",
    },
  };

  let folder = "";
  const environment = (given: NodeJS.ProcessEnv) => hostEnvironment(pieces, given, folder);

  // A folder of its own: a developer's local.settings.json must not count here.
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "settings-test-"));
    await copyFile("local.settings.json.example", join(folder, "local.settings.json.example"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test("names this run's own addresses", () => {
    const { publicBaseUrl, storage, outbound, identity } = parseConfig(environment({}));
    expect(publicBaseUrl).toBe(pieces.publicBaseUrl);
    expect(storage.host).toMatchObject({ connectionString: pieces.connectionString });
    expect(outbound.hostMap).toEqual({
      "bsky.social": "http://127.0.0.1:8072",
      "login.sandbox.test": "http://127.0.0.1:8073",
    });
    expect(identity.operators).toMatchObject({ audiences: ["api://relay"] });
  });

  test.each([
    ["a setting of the caller's", { BCRYPT_COST: "11" }, { BCRYPT_COST: "11" }],
    ["but not an empty one", { PUBLIC_BASE_URL: "" }, { PUBLIC_BASE_URL: pieces.publicBaseUrl }],
    [
      "a storage account of the caller's",
      { AzureWebJobsStorage: "AccountName=mine" },
      { AzureWebJobsStorage: "AccountName=mine" },
    ],
    [
      "this run's emulator where the caller means the emulator",
      { AzureWebJobsStorage: "UseDevelopmentStorage=true" },
      { AzureWebJobsStorage: pieces.connectionString },
    ],
    [
      "the caller's stand-ins beside the sandbox",
      { OUTBOUND_HOST_MAP: '{"hooks.example.test":"http://127.0.0.1:9"}' },
      {
        OUTBOUND_HOST_MAP:
          '{"bsky.social":"http://127.0.0.1:8072","login.sandbox.test":"http://127.0.0.1:8073","hooks.example.test":"http://127.0.0.1:9"}',
      },
    ],
    [
      "the caller's address ranges beside loopback",
      { OUTBOUND_ALLOW_CIDRS: "10.0.0.0/8" },
      { OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32,10.0.0.0/8" },
    ],
  ])("takes %s", (_what, given, expected) => {
    expect(environment(given)).toMatchObject(expected);
  });

  test("takes what a local.settings.json changes, and nothing from a mere copy of the example", async () => {
    const file = join(folder, "local.settings.json");
    onTestFinished(() => rm(file));
    const withoutFile = environment({});
    await copyFile("local.settings.json.example", file);
    expect(environment({})).toEqual(withoutFile);

    const changed = { ...example.Values, LOG_LEVEL: "debug", BCRYPT_COST: "11" };
    await writeFile(file, JSON.stringify({ Values: changed }));
    const expected = { ...withoutFile, LOG_LEVEL: "debug", BCRYPT_COST: "12" };
    expect(environment({ BCRYPT_COST: "12" })).toEqual(expected);
  });

  test("leaves a broken map of stand-ins for the app to refuse", () => {
    const broken = environment({ OUTBOUND_HOST_MAP: "{broken" });
    expect(() => parseConfig(broken)).toThrow("OUTBOUND_HOST_MAP: is not valid JSON");
  });
});
