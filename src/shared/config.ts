import * as z from "zod";
import {
  dataKeys,
  flag,
  integer,
  jsonOf,
  origin,
  seconds,
  secret,
  setting,
  text,
  withDefault,
  type Setting,
} from "./setting.ts";

/** Every setting of the app. Nothing else reads the environment. */
export const SETTINGS = {
  AZURE_FUNCTIONS_ENVIRONMENT: withDefault(
    text,
    "Production",
    "`Development` allows http addresses and the two outbound settings; set by the host.",
  ),
  AzureWebJobsStorage: setting(text, null, "Connection string of the host's storage account."),
  AzureWebJobsStorage__accountName: setting(
    text,
    null,
    "The same by managed identity: the account's name.",
  ),
  DATA_STORAGE: setting(
    text,
    null,
    "Connection string of the data account, when it is not the host's.",
  ),
  DATA_STORAGE__accountName: setting(
    text,
    null,
    "The same by managed identity: the account's name.",
  ),
  AZURE_CLIENT_ID: setting(text, null, "Client id of a user-assigned managed identity."),
  STORAGE_PREFIX: withDefault(
    z.string().regex(/^([a-z][a-z0-9]{0,15})?$/, "lower-case letters and digits"),
    "",
    "Put before the name of every table and queue, so that several deployments can share an account.",
  ),
  PUBLIC_BASE_URL: withDefault(
    z.url({ protocol: /^https?$/ }).transform((value) => value.replace(/\/+$/, "")),
    "http://localhost:7071/api",
    "Address of the API with its prefix; connect URLs and callbacks derive from it.",
  ),
  ALLOW_SIGNUP: withDefault(
    flag,
    "false",
    "Whether anybody may create a platform with POST /v1/auth/signup.",
  ),
  SESSION_SECRET: setting(secret, null, "Signs sessions and list cursors. At least 32 characters."),
  GRANT_SECRET: setting(secret, null, "Signs profile grants. At least 32 characters."),
  KEY_PEPPER: setting(
    secret,
    null,
    "Pepper of API key and password hashes. At least 32 characters.",
  ),
  DATA_KEYS: setting(
    dataKeys,
    null,
    "JSON, key id → 32 bytes in base64: seals stored credentials; the first key seals, all open.",
  ),
  BCRYPT_COST: withDefault(
    integer(4, 15),
    "12",
    "Cost of password hashes; at least 10 in production.",
  ),
  ENTRA_TENANT_ID: setting(
    text,
    null,
    "Tenant of the operators; the three settings below derive from it.",
  ),
  OPERATOR_ISSUER: setting(text, null, "Issuer of operator tokens."),
  OPERATOR_AUDIENCE: setting(
    text,
    null,
    "Audience of operator tokens: the API's client id or URI.",
  ),
  OPERATOR_JWKS_URL: setting(z.url(), null, "Where the issuer publishes its keys."),
  RATE_LIMIT_PER_MINUTE: withDefault(
    integer(1, 1_000_000),
    "300",
    "Requests per minute and API key.",
  ),
  BALANCE_LOW_TOKENS: withDefault(
    integer(0, 1_000_000_000),
    "100",
    "Below this a wallet counts as low.",
  ),
  LEG_RETRY_SECONDS: withDefault(
    seconds,
    "5,30,120,600,1800",
    "Delays before the 2nd, 3rd … attempt of a leg that certainly was not sent.",
  ),
  NETWORK_TIMEOUT_MS: withDefault(integer(100, 300_000), "60000", "Longest call to a network."),
  LEG_LEASE_SECONDS: withDefault(
    integer(1, 3_600),
    "120",
    "How long a worker owns a leg; longer than the network timeout.",
  ),
  WORK_CHECK_SECONDS: withDefault(
    integer(1, 3_600),
    "60",
    "How soon the sweeper looks at open work again.",
  ),
  SWEEP_SCHEDULE: withDefault(text, "0 * * * * *", "NCRONTAB of the sweeper for stalled work."),
  OUTBOUND_HOST_MAP: withDefault(
    jsonOf(z.record(z.string(), origin)),
    "{}",
    "Development only. JSON, host → origin that stands in for it.",
  ),
  OUTBOUND_ALLOW_CIDRS: withDefault(
    z.string().transform((value) =>
      value
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== ""),
    ),
    "",
    "Development only. Private address ranges that may be dialled, e.g. 127.0.0.1/32.",
  ),
  LOG_LEVEL: withDefault(
    z.enum(["debug", "info", "warn", "error"]),
    "info",
    "Least level that is logged.",
  ),
} as const satisfies Record<string, Setting<unknown>>;

type Settings = {
  readonly [Name in keyof typeof SETTINGS]: z.output<(typeof SETTINGS)[Name]["schema"]>;
};

export type StorageAccount =
  | { readonly kind: "connection_string"; readonly connectionString: string }
  | {
      readonly kind: "identity";
      readonly accountName: string;
      readonly clientId: string | undefined;
    };

export interface OperatorConfig {
  readonly issuers: readonly string[];
  readonly audience: string;
  readonly jwksUrl: string;
  readonly tenantId: string | undefined;
}

export interface Config {
  readonly production: boolean;
  readonly logLevel: "debug" | "info" | "warn" | "error";
  readonly publicBaseUrl: string;
  readonly storage: {
    readonly data: StorageAccount;
    /** Queues live in the host's account, where the triggers look for them. */
    readonly host: StorageAccount;
    readonly prefix: string;
  };
  readonly identity: {
    readonly allowSignup: boolean;
    readonly sessionSecret: string;
    readonly grantSecret: string;
    readonly keyPepper: string;
    readonly dataKeys: ReadonlyMap<string, Uint8Array>;
    readonly bcryptCost: number;
    readonly operators: OperatorConfig | undefined;
  };
  readonly limits: { readonly requestsPerMinute: number; readonly balanceLowTokens: number };
  readonly publishing: {
    readonly networkTimeoutMs: number;
    readonly leaseSeconds: number;
    readonly retrySeconds: readonly number[];
    readonly workCheckSeconds: number;
    readonly sweepSchedule: string;
  };
  readonly outbound: {
    readonly hostMap: Readonly<Record<string, string>>;
    readonly allowCidrs: readonly string[];
  };
}

/** A secret of a development machine; production refuses to start without its own. */
const developmentSecret = (name: string) => `development-only-${name}-`.padEnd(48, "0");
const developmentDataKey = { development: Buffer.alloc(32, 7).toString("base64") };

function storageAccount(
  connectionString: string | undefined,
  accountName: string | undefined,
  clientId: string | undefined,
): StorageAccount | undefined {
  if (connectionString !== undefined) return { kind: "connection_string", connectionString };
  if (accountName !== undefined) return { kind: "identity", accountName, clientId };
  return undefined;
}

function operators(settings: Settings): OperatorConfig | undefined {
  const tenantId = settings.ENTRA_TENANT_ID;
  const login = "https://login.microsoftonline.com";
  const audience = settings.OPERATOR_AUDIENCE;
  const jwksUrl =
    settings.OPERATOR_JWKS_URL ??
    (tenantId === undefined ? undefined : `${login}/${tenantId}/discovery/v2.0/keys`);
  if (audience === undefined || jwksUrl === undefined) return undefined;
  const issuers =
    settings.OPERATOR_ISSUER !== undefined
      ? [settings.OPERATOR_ISSUER]
      : tenantId === undefined
        ? []
        : [`${login}/${tenantId}/v2.0`, `https://sts.windows.net/${tenantId}/`];
  return issuers.length === 0 ? undefined : { issuers, audience, jwksUrl, tenantId };
}

/** What a setting alone can't tell: the rules between settings. */
function problemsBetween(settings: Settings, production: boolean): string[] {
  const problems: string[] = [];
  const operatorParts = [settings.OPERATOR_ISSUER, settings.OPERATOR_JWKS_URL].filter(
    Boolean,
  ).length;
  if (settings.ENTRA_TENANT_ID === undefined && operatorParts === 1)
    problems.push("OPERATOR_ISSUER and OPERATOR_JWKS_URL belong together");
  if (operatorParts > 0 && settings.OPERATOR_AUDIENCE === undefined)
    problems.push("OPERATOR_AUDIENCE: missing, operators could not be verified");
  if (settings.LEG_LEASE_SECONDS * 1000 <= settings.NETWORK_TIMEOUT_MS)
    problems.push("LEG_LEASE_SECONDS: must be longer than NETWORK_TIMEOUT_MS");
  return production ? [...problems, ...problemsOfProduction(settings)] : problems;
}

function problemsOfProduction(settings: Settings): string[] {
  const problems: string[] = [];
  for (const name of ["SESSION_SECRET", "GRANT_SECRET", "KEY_PEPPER", "DATA_KEYS"] as const)
    if (settings[name] === undefined) problems.push(`${name}: missing`);
  if (Object.keys(settings.OUTBOUND_HOST_MAP).length > 0)
    problems.push("OUTBOUND_HOST_MAP: not allowed in production");
  if (settings.OUTBOUND_ALLOW_CIDRS.length > 0)
    problems.push("OUTBOUND_ALLOW_CIDRS: not allowed in production");
  if (!settings.PUBLIC_BASE_URL.startsWith("https:"))
    problems.push("PUBLIC_BASE_URL: must be an https address in production");
  if (settings.BCRYPT_COST < 10) problems.push("BCRYPT_COST: at least 10 in production");
  return problems;
}

function parseSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, { schema }] of Object.entries(SETTINGS)) {
    const given = environment[name];
    const result = schema.safeParse(given === "" ? undefined : given);
    if (result.success) values[name] = result.data;
    else problems.push(`${name}: ${result.error.issues.map((issue) => issue.message).join(", ")}`);
  }
  if (problems.length > 0) throw new Error(`The settings are wrong.\n- ${problems.join("\n- ")}`);
  return values as Settings;
}

/**
 * The environment as a typed `Config`.
 * @throws Error whose one message names every setting that is missing or wrong.
 */
export function parseConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const settings = parseSettings(environment);
  const production = settings.AZURE_FUNCTIONS_ENVIRONMENT === "Production";
  const problems = problemsBetween(settings, production);
  const host = storageAccount(
    settings.AzureWebJobsStorage,
    settings.AzureWebJobsStorage__accountName,
    settings.AZURE_CLIENT_ID,
  );
  if (host === undefined)
    problems.push("AzureWebJobsStorage: missing (or AzureWebJobsStorage__accountName)");
  if (problems.length > 0 || host === undefined)
    throw new Error(`The settings are wrong.\n- ${problems.join("\n- ")}`);
  const keys = settings.DATA_KEYS ?? developmentDataKey;
  return {
    production,
    logLevel: settings.LOG_LEVEL,
    publicBaseUrl: settings.PUBLIC_BASE_URL,
    storage: {
      data:
        storageAccount(
          settings.DATA_STORAGE,
          settings.DATA_STORAGE__accountName,
          settings.AZURE_CLIENT_ID,
        ) ?? host,
      host,
      prefix: settings.STORAGE_PREFIX,
    },
    identity: {
      allowSignup: settings.ALLOW_SIGNUP,
      sessionSecret: settings.SESSION_SECRET ?? developmentSecret("session"),
      grantSecret: settings.GRANT_SECRET ?? developmentSecret("grant"),
      keyPepper: settings.KEY_PEPPER ?? developmentSecret("pepper"),
      dataKeys: new Map(
        Object.entries(keys).map(([id, key]) => [id, new Uint8Array(Buffer.from(key, "base64"))]),
      ),
      bcryptCost: settings.BCRYPT_COST,
      operators: operators(settings),
    },
    limits: {
      requestsPerMinute: settings.RATE_LIMIT_PER_MINUTE,
      balanceLowTokens: settings.BALANCE_LOW_TOKENS,
    },
    publishing: {
      networkTimeoutMs: settings.NETWORK_TIMEOUT_MS,
      leaseSeconds: settings.LEG_LEASE_SECONDS,
      retrySeconds: settings.LEG_RETRY_SECONDS,
      workCheckSeconds: settings.WORK_CHECK_SECONDS,
      sweepSchedule: settings.SWEEP_SCHEDULE,
    },
    outbound: {
      hostMap: settings.OUTBOUND_HOST_MAP,
      allowCidrs: settings.OUTBOUND_ALLOW_CIDRS,
    },
  };
}

/** The configuration of this process. */
export function readConfig(): Config {
  return parseConfig(process.env);
}
