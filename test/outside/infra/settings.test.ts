import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { HOST_SETTINGS } from "../../../tools/host-settings.ts";
import { parseConfig } from "../../../src/shared/config/config.ts";
import { SETTINGS } from "../../../src/shared/config/settings.ts";
import { onlyOne, readSnapshot } from "./snapshot.ts";

/** Name of the setting → its value, where a deployment has every option there is. */
const everySetting = onlyOne(readSnapshot("every-option"), "Microsoft.Web/sites/config")
  .properties as Readonly<Record<string, string>>;
/** What every deployment has. */
const alwaysSet = Object.keys(
  onlyOne(readSnapshot("small"), "Microsoft.Web/sites/config").properties as object,
);

/** Settings that a deployment to Azure never has, and why. */
const NEVER: Readonly<Record<string, string>> = {
  AzureWebJobsStorage: "a connection string: the identity is used",
  DATA_STORAGE: "a connection string: the identity is used",
  MEDIA_STORAGE: "a connection string: the identity is used",
  OUTBOUND_HOST_MAP: "development only: refused in production",
  OUTBOUND_ALLOW_CIDRS: "development only: refused in production",
  OUTBOUND_NAME_SERVERS: "development only: refused in production",
  TICK_SECONDS: "development only: refused in production",
};

/** Name of the setting → the secret in the vault that it refers to. */
const secrets = new Map(
  Object.entries(everySetting).flatMap(([setting, value]) => {
    const secret = /@Microsoft\.KeyVault.*'([a-z-]+)'\)\]$/.exec(value)?.[1];
    return secret === undefined ? [] : [[setting, secret] as const];
  }),
);
const hostSettings = Object.keys(HOST_SETTINGS);

const secret = () => randomBytes(32).toString("base64url");
const PRODUCTION: Readonly<Record<string, string>> = {
  AZURE_FUNCTIONS_ENVIRONMENT: "Production",
  AzureWebJobsStorage__accountName: "sthostexample",
  DATA_STORAGE__accountName: "stdataexample",
  MEDIA_STORAGE__accountName: "stmediaexample",
  AZURE_CLIENT_ID: "00000000-0000-0000-0000-000000000000",
  PUBLIC_BASE_URL: "https://relay.example.com/api",
  ALLOW_SIGNUP: "false",
  SESSION_SECRET: secret(),
  GRANT_SECRET: secret(),
  KEY_PEPPER: secret(),
  DATA_KEYS: JSON.stringify({ k1: randomBytes(32).toString("base64") }),
};

describe("the settings of the app", () => {
  const known = Object.keys(SETTINGS);
  const set = Object.keys(everySetting).filter((name) => !hostSettings.includes(name));

  test("the settings of the app are each set or offered by the template, or never set in Azure", () => {
    expect([...set, ...Object.keys(NEVER)].toSorted()).toEqual(known.toSorted());
  });

  test("stand beside those that the host reads, in every deployment", () => {
    expect(hostSettings.filter((name) => !alwaysSet.includes(name))).toEqual([]);
  });

  test("come from the vault where they are secret", () => {
    const isSecret = /(_SECRET|_PEPPER|_KEYS|_KEY)(_PREVIOUS)?$|^MAIL_URL$/;
    const secret = known.filter((name) => isSecret.test(name));
    expect([...secrets.keys()].toSorted()).toEqual(secret.toSorted());
    expect(new Set(secrets.values()).size).toBe(secrets.size);
  });

  test("the settings of the app are all that a first deployment needs", () => {
    const own = alwaysSet.filter((name) => !hostSettings.includes(name));
    expect(own.toSorted()).toEqual(Object.keys(PRODUCTION).toSorted());
  });
});

describe("the app", () => {
  test("starts with what the template always sets, and uses the identity for its accounts", () => {
    const { storage } = parseConfig(PRODUCTION);
    const clientId = PRODUCTION["AZURE_CLIENT_ID"];
    expect(storage.host).toEqual({ kind: "identity", accountName: "sthostexample", clientId });
    expect(storage.data).toEqual({ kind: "identity", accountName: "stdataexample", clientId });
    expect(storage.media).toEqual({ kind: "identity", accountName: "stmediaexample", clientId });
  });

  test("the app does not start with a reference to the vault that was not resolved", () => {
    const reference =
      "@Microsoft.KeyVault(SecretUri=https://kv-example.vault.azure.net/secrets/session-secret)";
    expect(() => parseConfig({ ...PRODUCTION, SESSION_SECRET: reference })).toThrow(
      "SESSION_SECRET: the Key Vault reference is not resolved",
    );
  });
});
