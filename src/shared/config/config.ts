import type { OperatorConfig } from "../callers/tokens.ts";
import type { StorageAccount } from "../runtime/storage-account.ts";
import type { NetworkApp, NetworkApps } from "../networks/contract/settings.ts";
import { SETTINGS_BY_NETWORK } from "../networks/names.ts";
import { findSecretFaults } from "./secret-faults.ts";
import { SETTINGS, type Settings } from "./settings.ts";

const UNRESOLVED = "@Microsoft.KeyVault(";

/** Makes a secret for development machines. Production refuses to start without its own. */
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
  const audiences = settings.OPERATOR_AUDIENCE;
  const jwksUrl =
    settings.OPERATOR_JWKS_URL ??
    (tenantId === undefined ? undefined : `${login}/${tenantId}/discovery/v2.0/keys`);
  if (audiences === undefined || jwksUrl === undefined) return undefined;
  const issuers =
    settings.OPERATOR_ISSUER !== undefined
      ? [settings.OPERATOR_ISSUER]
      : tenantId === undefined
        ? []
        : [`${login}/${tenantId}/v2.0`, `https://sts.windows.net/${tenantId}/`];
  return issuers.length === 0 ? undefined : { issuers, audiences, jwksUrl, tenantId };
}

function readNetworks(values: Readonly<Record<string, unknown>>) {
  const read = Object.entries(SETTINGS_BY_NETWORK).map(([name, settings]) => ({
    name,
    ...settings?.read(values),
  }));
  const apps: Record<string, NetworkApp> = {};
  const quotas: Record<string, number> = {};
  for (const { name, app, quotas: own = {} } of read) {
    if (app !== undefined) apps[name] = app;
    for (const [kind, limit] of Object.entries(own)) quotas[`${name}.${kind}`] = limit;
  }
  return { apps, quotas, problems: read.flatMap(({ problems = [] }) => problems) };
}

/** Returns the secrets of the apps at the networks, with the names of their settings. */
const appSecrets = (values: Readonly<Record<string, unknown>>) =>
  Object.entries(values).flatMap(([name, value]) =>
    name.endsWith("_CLIENT_SECRET") || name.endsWith("_APP_SECRET")
      ? [[name, String(value)] as const]
      : [],
  );

function mailConfig(settings: Settings, production: boolean) {
  const { MAIL_URL: server, MAIL_FROM: from, SERVICE_NAME: name } = settings;
  if (server === undefined || from === undefined) return undefined;
  // The connection is encrypted before anything is sent, and mails have the service's name as sender.
  return { ...server, needsTls: production && !server.isSecure, from, name };
}

function problemsBetween(settings: Settings, production: boolean): string[] {
  const problems: string[] = [];
  const { ENTRA_TENANT_ID: tenant, OPERATOR_ISSUER: issuer, OPERATOR_JWKS_URL: keys } = settings;
  if (tenant === undefined && (issuer === undefined) !== (keys === undefined))
    problems.push("OPERATOR_ISSUER, OPERATOR_JWKS_URL: must be given both or neither");
  const isIssuerKnown = [tenant, issuer, keys].some((part) => part !== undefined);
  if (isIssuerKnown && settings.OPERATOR_AUDIENCE === undefined)
    problems.push("OPERATOR_AUDIENCE: must be given, or no operator can be verified");
  if (!isIssuerKnown && settings.OPERATOR_AUDIENCE !== undefined)
    problems.push(
      "OPERATOR_AUDIENCE: must come with ENTRA_TENANT_ID, or with OPERATOR_ISSUER and OPERATOR_JWKS_URL",
    );
  for (const name of ["AzureWebJobsStorage", "DATA_STORAGE", "MEDIA_STORAGE"] as const)
    if (settings[name] !== undefined && settings[`${name}__accountName`] !== undefined)
      problems.push(`${name}, ${name}__accountName: must not be given both`);
  if ((settings.MAIL_URL === undefined) !== (settings.MAIL_FROM === undefined))
    problems.push("MAIL_URL, MAIL_FROM: must be given both or neither");
  if (settings.LEG_LEASE_SECONDS * 1000 <= settings.NETWORK_TIMEOUT_MS)
    problems.push("LEG_LEASE_SECONDS: must be longer than NETWORK_TIMEOUT_MS");
  return production
    ? [
        ...problems,
        ...problemsOfProduction(settings),
        ...findSecretFaults(settings, appSecrets(settings)),
      ]
    : problems;
}

function problemsOfProduction(settings: Settings): string[] {
  const problems: string[] = [];
  for (const name of ["SESSION_SECRET", "GRANT_SECRET", "KEY_PEPPER", "DATA_KEYS"] as const)
    if (settings[name] === undefined) problems.push(`${name}: must be given in production`);
  if (Object.keys(settings.OUTBOUND_HOST_MAP).length > 0)
    problems.push("OUTBOUND_HOST_MAP: must not be given in production");
  if (settings.OUTBOUND_ALLOW_CIDRS.length > 0)
    problems.push("OUTBOUND_ALLOW_CIDRS: must not be given in production");
  if (settings.OUTBOUND_NAME_SERVERS.length > 0)
    problems.push("OUTBOUND_NAME_SERVERS: must not be given in production");
  for (const name of [
    "PUBLIC_BASE_URL",
    "SERVICE_URL",
    "SUPPORT_URL",
    "DASHBOARD_URL",
    "OPERATOR_JWKS_URL",
  ] as const)
    if (settings[name]?.startsWith("https:") === false)
      problems.push(`${name}: must be an https URL in production`);
  if (settings.MAIL_URL !== undefined && settings.MAIL_URL.user === undefined)
    problems.push("MAIL_URL: must have a user and a password in production");
  if (settings.BCRYPT_COST < 10) problems.push("BCRYPT_COST: must be at least 10 in production");
  if (settings.TICK_SECONDS !== 60) problems.push("TICK_SECONDS: must be 60 in production");
  return problems;
}

const wrongSettings = (problems: readonly string[]) =>
  new Error(
    `The settings are wrong.\n- ${problems.join("\n- ")}\nThe tables of docs/reference/settings.md say what each one is for.`,
  );

/** Shorter names are too much like those of other programs. */
const NAME_LENGTH_MIN = 10;
const TYPOS_MAX = 2;

/** Reports whether two typing mistakes at most lead from one text to the other. */
function isAlmost(given: string, meant: string): boolean {
  if (Math.abs(given.length - meant.length) > TYPOS_MAX) return false;
  let above = Array.from({ length: meant.length + 1 }, (_, at) => at);
  for (let row = 1; row <= given.length; row += 1) {
    const current = [row];
    for (let at = 1; at <= meant.length; at += 1) {
      const isEqual = given[row - 1] === meant[at - 1];
      current.push(
        Math.min(
          (above[at] ?? 0) + 1,
          (current[at - 1] ?? 0) + 1,
          (above[at - 1] ?? 0) + (isEqual ? 0 : 1),
        ),
      );
    }
    above = current;
  }
  return (above.at(-1) ?? 0) <= TYPOS_MAX;
}

function parseSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const values: Record<string, unknown> = {};
  // A problem for each name that is almost a setting's. A mistyped setting would keep its default, in silence.
  const names = Object.keys(SETTINGS);
  const own = names.filter((name) => name.length >= NAME_LENGTH_MIN && !/^azure/i.test(name));
  const problems: string[] = Object.keys(environment).flatMap((given) => {
    if (given in SETTINGS || given.length < NAME_LENGTH_MIN) return [];
    const meant = own.find((name) => isAlmost(given.toUpperCase(), name));
    return meant === undefined ? [] : [`${given}: must be spelled ${meant}`];
  });
  for (const [name, { schema, fallback }] of Object.entries(SETTINGS)) {
    const given = environment[name] || undefined;
    const text = given ?? fallback;
    if (text === null) continue;
    const result = schema().safeParse(text);
    // The host passes on the text of a reference that it can't resolve. Anybody could guess that text.
    if (text.startsWith(UNRESOLVED))
      problems.push(`${name}: the Key Vault reference is not resolved`);
    else if (result.success) values[name] = result.data;
    else problems.push(`${name}: ${result.error.issues.map((issue) => issue.message).join(", ")}`);
  }
  if (problems.length > 0) throw wrongSettings(problems);
  return values as Settings;
}

function identityConfig(settings: Settings) {
  const keys = settings.DATA_KEYS ?? developmentDataKey;
  return {
    allowSignup: settings.ALLOW_SIGNUP,
    // Whether owners may create users without an invitation.
    allowDirectUsers: settings.ALLOW_DIRECT_USERS ?? settings.MAIL_URL === undefined,
    signupCreditTokens: settings.SIGNUP_CREDIT_TOKENS,
    sessionSecret: settings.SESSION_SECRET ?? developmentSecret("session"),
    // Still accepted, like the previous ones below, but nothing new is signed or hashed with them.
    previousSessionSecret: settings.SESSION_SECRET_PREVIOUS,
    previousGrantSecret: settings.GRANT_SECRET_PREVIOUS,
    grantSecret: settings.GRANT_SECRET ?? developmentSecret("grant"),
    keyPepper: settings.KEY_PEPPER ?? developmentSecret("pepper"),
    previousKeyPepper: settings.KEY_PEPPER_PREVIOUS,
    dataKeys: new Map(
      Object.entries(keys).map(([id, key]) => [id, new Uint8Array(Buffer.from(key, "base64"))]),
    ),
    bcryptCost: settings.BCRYPT_COST,
    operators: operators(settings),
  };
}

/**
 * Parses the environment into a typed `Config`.
 * @throws Error with one message that names every setting that is missing or wrong
 */
export function parseConfig(environment: Readonly<Record<string, string | undefined>>) {
  const settings = parseSettings(environment);
  // One word relaxes the rules. Any other value has stopped the start by now.
  const production = settings.AZURE_FUNCTIONS_ENVIRONMENT !== "Development";
  const networks = readNetworks(settings);
  const problems = [...problemsBetween(settings, production), ...networks.problems];
  // A network without its app here is not available.
  const networkApps: NetworkApps = networks.apps;
  // Queues are in the host's account, where the triggers look for them.
  const host = storageAccount(
    settings.AzureWebJobsStorage,
    settings.AzureWebJobsStorage__accountName,
    settings.AZURE_CLIENT_ID,
  );
  if (host === undefined)
    problems.push("AzureWebJobsStorage: must be given, or AzureWebJobsStorage__accountName");
  if (problems.length > 0 || host === undefined) throw wrongSettings(problems);
  const { LINK_CARD_USER_AGENT: linkReader, SUPPORT_URL: supportUrl } = settings;
  const { DASHBOARD_URL: dashboardUrl } = settings;
  return {
    production,
    logLevel: settings.LOG_LEVEL,
    publicBaseUrl: settings.PUBLIC_BASE_URL,
    service: {
      name: settings.SERVICE_NAME,
      url: settings.SERVICE_URL ?? new URL(settings.PUBLIC_BASE_URL).origin,
      ...(supportUrl === undefined ? {} : { supportUrl }),
      ...(dashboardUrl === undefined ? {} : { dashboardUrl }),
      ...(linkReader === undefined ? {} : { linkReader }),
    },
    storage: {
      data:
        storageAccount(
          settings.DATA_STORAGE,
          settings.DATA_STORAGE__accountName,
          settings.AZURE_CLIENT_ID,
        ) ?? host,
      host,
      prefix: settings.STORAGE_PREFIX,
      // The files of customers. Undefined where none can be uploaded.
      media:
        storageAccount(
          settings.MEDIA_STORAGE,
          settings.MEDIA_STORAGE__accountName,
          settings.AZURE_CLIENT_ID,
        ) ?? (production ? undefined : host),
    },
    files: {
      // The largest file, and the limit of all files of a platform together.
      bytesMax: settings.MEDIA_BYTES_MAX,
      platformBytesMax: settings.MEDIA_PLATFORM_BYTES_MAX,
    },
    identity: identityConfig(settings),
    // Undefined when no mail is sent.
    mail: mailConfig(settings, production),
    limits: {
      requestsPerMinute: settings.RATE_LIMIT_PER_MINUTE,
      // Limit of all keys of a platform together.
      platformPerMinute: settings.PLATFORM_RATE_PER_MINUTE,
      authPerMinute: settings.AUTH_RATE_PER_MINUTE,
      loginAttempts: settings.LOGIN_ATTEMPTS,
      signUpsPerDay: settings.SIGNUPS_PER_ADDRESS_DAY,
      trustedProxyHops: settings.TRUSTED_PROXY_HOPS,
      balanceLowTokens: settings.BALANCE_LOW_TOKENS,
    },
    publishing: {
      networkTimeoutMs: settings.NETWORK_TIMEOUT_MS,
      leaseSeconds: settings.LEG_LEASE_SECONDS,
      retrySeconds: settings.LEG_RETRY_SECONDS,
      workCheckSeconds: settings.WORK_CHECK_SECONDS,
      // How fast a platform's legs are published when it accepts many at once.
      legsPerSecond: settings.LEG_PACE_PER_SECOND,
      // Per rolling day and network account, by `<network>.<kind>`.
      quotas: networks.quotas,
      duplicateWindowHours: settings.DUPLICATE_WINDOW_HOURS,
    },
    walks: {
      // Time between two runs of the timer.
      tickMs: settings.TICK_SECONDS * 1_000,
      // Time between two rounds of an hourly walk.
      hourMs: settings.TICK_SECONDS * 60_000,
      // Hour (UTC) at which the rounds of daily walks begin.
      dailyAt: settings.DAILY_WALKS_AT,
    },
    webhooks: {
      timeoutMs: settings.WEBHOOK_TIMEOUT_MS,
      retrySeconds: settings.WEBHOOK_RETRY_SECONDS,
    },
    networkApps,
    outbound: {
      hostMap: settings.OUTBOUND_HOST_MAP,
      allowCidrs: settings.OUTBOUND_ALLOW_CIDRS,
      // Asked for the names that customers chose. If empty, the system's name servers are asked.
      nameServers: settings.OUTBOUND_NAME_SERVERS,
    },
  };
}

type ParsedConfig = ReturnType<typeof parseConfig>;
export type Config = { readonly [Part in keyof ParsedConfig]: Readonly<ParsedConfig[Part]> };

export function readConfig(): Config {
  return parseConfig(process.env);
}
