import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { HOST_SETTINGS } from "../../dev/host-settings.ts";
import { parseConfig } from "../../src/shared/runtime/config.ts";
import { SETTINGS } from "../../src/shared/runtime/settings.ts";
import { keysOf } from "./bicep.ts";

const INFRA = resolve(import.meta.dirname, "../../infra");
const app = readFileSync(resolve(INFRA, "modules/function-app.bicep"), "utf8");
const types = readFileSync(resolve(INFRA, "settings.bicep"), "utf8");

/** Settings that a deployment to Azure never has, and why. */
const NEVER: Readonly<Record<string, string>> = {
  AzureWebJobsStorage: "a connection string: the identity is used",
  DATA_STORAGE: "a connection string: the identity is used",
  OUTBOUND_HOST_MAP: "development only: refused in production",
  OUTBOUND_ALLOW_CIDRS: "development only: refused in production",
};

/** Name of the setting → name of the secret in the vault. */
function secretsOf(): Map<string, string> {
  const pairs = app.matchAll(/\b([A-Z][A-Z_]+): '([a-z-]+)'/g);
  return new Map([...pairs].map(([, setting = "", secret = ""]) => [setting, secret]));
}

const plain = [
  ...keysOf(app, "appSettings ="),
  ...keysOf(app, "operatorSettings = empty(operatorAudience) ? {} :"),
  ...keysOf(app, "tenantSettings = empty(operatorTenantId) ? {} :"),
];
const optional = [...keysOf(types, "type NetworkApps ="), ...keysOf(types, "type Tuning =")];
const secrets = secretsOf();

describe("the settings of the app", () => {
  const known = Object.keys(SETTINGS);

  test("are each set by the template, offered by it, or never set in Azure", () => {
    const covered = [...plain, ...optional, ...secrets.keys(), ...Object.keys(NEVER)];
    expect(known.filter((name) => !covered.includes(name))).toEqual([]);
  });

  test("are all that the template sets, beside what the host reads", () => {
    const set = [...plain, ...optional, ...secrets.keys()];
    expect(set.filter((name) => !known.includes(name))).toEqual([]);
    expect(keysOf(app, "hostSettings =").toSorted()).toEqual(Object.keys(HOST_SETTINGS).toSorted());
  });

  test("have one place each", () => {
    const all = [...plain, ...optional, ...secrets.keys(), ...Object.keys(NEVER)];
    expect(all.toSorted()).toEqual([...new Set(all)].toSorted());
  });

  test("come from the vault where they are secret", () => {
    const secret = known.filter((name) => /(_SECRET|_PEPPER|_KEYS|_KEY)(_PREVIOUS)?$/.test(name));
    expect([...secrets.keys()].toSorted()).toEqual(secret.toSorted());
    expect(new Set(secrets.values()).size).toBe(secrets.size);
  });
});

const SECRET = "s".repeat(40);
const PRODUCTION: Readonly<Record<string, string>> = {
  AZURE_FUNCTIONS_ENVIRONMENT: "Production",
  AzureWebJobsStorage__accountName: "sthostexample",
  DATA_STORAGE__accountName: "stdataexample",
  AZURE_CLIENT_ID: "00000000-0000-0000-0000-000000000000",
  PUBLIC_BASE_URL: "https://relay.example.com/api",
  ALLOW_SIGNUP: "false",
  SESSION_SECRET: SECRET,
  GRANT_SECRET: SECRET,
  KEY_PEPPER: SECRET,
  DATA_KEYS: JSON.stringify({ k1: Buffer.alloc(32, 1).toString("base64") }),
};

describe("the app", () => {
  test("starts with what the template always sets, and uses the identity for both accounts", () => {
    const { storage } = parseConfig(PRODUCTION);
    const clientId = PRODUCTION["AZURE_CLIENT_ID"];
    expect(storage.host).toEqual({ kind: "identity", accountName: "sthostexample", clientId });
    expect(storage.data).toEqual({ kind: "identity", accountName: "stdataexample", clientId });
  });

  test("does not start with a reference to the vault that was not resolved", () => {
    const reference =
      "@Microsoft.KeyVault(SecretUri=https://kv-example.vault.azure.net/secrets/session-secret)";
    expect(() => parseConfig({ ...PRODUCTION, SESSION_SECRET: reference })).toThrow(
      "SESSION_SECRET: the Key Vault reference is not resolved",
    );
  });
});
