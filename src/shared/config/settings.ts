import { PUT_BYTES_MAX } from "../runtime/storage-account.ts";
import * as z from "zod/mini";
import { SETTINGS_BY_NETWORK } from "../networks/names.ts";
import {
  accountName,
  baseUrl,
  dataKeys,
  displayName,
  flag,
  guid,
  hostName,
  httpUrl,
  integerSetting,
  isAddressRange,
  isNameServer,
  jsonSetting,
  list,
  mailAddress,
  mailUrl,
  matching,
  oneOfWords,
  origin,
  withRule,
  seconds,
  secret,
  setting,
  severalWords,
  text,
  userAgent,
  webAddress,
  withDefault,
  type Setting,
  type ValueOf,
} from "../runtime/setting.ts";
import { shape } from "../runtime/shape.ts";

const OWN_SETTINGS = {
  AZURE_FUNCTIONS_ENVIRONMENT: withDefault(
    shape(() => oneOfWords("Production", "Development")),
    "Production",
    "`Development` (case-sensitive) is for developers' machines: it allows http addresses, the outbound settings below, and a start without secrets. With any other value, the app doesn't start.",
  ),
  AzureWebJobsStorage: setting(text, null, "Connection string of the host's storage account."),
  AzureWebJobsStorage__accountName: setting(
    accountName,
    null,
    "The account's name, to use a managed identity instead.",
  ),
  DATA_STORAGE: setting(
    text,
    null,
    "Connection string of the data account, when it is not the host's.",
  ),
  DATA_STORAGE__accountName: setting(
    accountName,
    null,
    "The account's name, to use a managed identity instead.",
  ),
  MEDIA_STORAGE: setting(
    text,
    null,
    "Connection string of the account for customers' files. Without it, and without the next one, files can't be uploaded; in development they are in the host's account.",
  ),
  MEDIA_STORAGE__accountName: setting(
    accountName,
    null,
    "The account's name, to use a managed identity instead.",
  ),
  MEDIA_BYTES_MAX: withDefault(
    integerSetting(1, PUT_BYTES_MAX),
    "1073741824",
    "Largest file that can be uploaded, in bytes: at most what one PUT to Blob Storage can carry.",
  ),
  MEDIA_PLATFORM_BYTES_MAX: withDefault(
    integerSetting(1, 1_099_511_627_776),
    "21474836480",
    "Maximum total size of a platform's files, in bytes. Until an operator has credited the platform, the limit is 1 GiB at most.",
  ),
  AZURE_CLIENT_ID: setting(text, null, "Client id of a user-assigned managed identity."),
  STORAGE_PREFIX: withDefault(
    shape(() =>
      matching(
        /^([a-z][a-z0-9]{0,15})?$/,
        "must be up to 16 lower-case letters and digits, a letter first",
      ),
    ),
    "",
    "Put before the name of every table, queue and file, so that several deployments can share an account.",
  ),
  PUBLIC_BASE_URL: withDefault(
    baseUrl,
    "http://localhost:7071/api",
    "Address of the API with its prefix; connect URLs and callbacks derive from it.",
  ),
  SERVICE_NAME: withDefault(
    displayName,
    "Publishing Relay",
    "The service's name on consent pages and under posts of Mastodon and Bluesky, in authenticator apps, in the API's description, and in errors about a low balance. At most 60 characters, no colon.",
  ),
  SERVICE_URL: setting(
    webAddress,
    null,
    "The page that this name links to. By default, and always on Bluesky, which accepts no page on another host, the origin of PUBLIC_BASE_URL.",
  ),
  SUPPORT_URL: setting(
    webAddress,
    null,
    "The operators' support page: linked in emails, on connect pages whose session has no support page of its own, and in errors about a low balance.",
  ),
  DASHBOARD_URL: setting(
    webAddress,
    null,
    "The page where your customers' staff log in. Emails and their link pages link to it. Without it, they don't mention logging in.",
  ),
  MAIL_URL: setting(
    mailUrl,
    null,
    "The mail server, such as `smtp://user:password@smtp.example.com:587`; `smtps://` is encrypted from the first byte. Without it, no email is sent.",
  ),
  MAIL_FROM: setting(
    mailAddress,
    null,
    "The address that emails are sent from; its domain's SPF, DKIM and DMARC records have to name the mail server.",
  ),
  LINK_CARD_USER_AGENT: setting(
    userAgent,
    null,
    "The `User-Agent` with which pages behind links are read for their cards, for sites that block unknown clients. The default is `publishing-relay/1`.",
  ),
  ALLOW_SIGNUP: withDefault(
    flag,
    "false",
    "Whether anyone may create a platform with POST /v1/auth/signup.",
  ),
  ALLOW_DIRECT_USERS: setting(
    flag,
    null,
    "Whether an owner may create users with a password (POST /v1/users) instead of inviting them. By default, only if the relay sends no email.",
  ),
  SIGNUP_CREDIT_TOKENS: withDefault(
    integerSetting(0, 1_000_000),
    "0",
    "Tokens that a platform starts with when someone signs up, once per email address; 0 for none.",
  ),
  SIGNUPS_PER_ADDRESS_DAY: withDefault(
    integerSetting(1, 1_000_000),
    "5",
    "Sign-ups per address and UTC day, including failed ones.",
  ),
  SESSION_SECRET: setting(
    secret,
    null,
    "Signs sessions, connect links and list cursors. At least 32 characters.",
  ),
  SESSION_SECRET_PREVIOUS: setting(
    secret,
    null,
    "The previous session secret. Set it as long as sessions signed with it should be accepted.",
  ),
  GRANT_SECRET: setting(secret, null, "Signs profile grants. At least 32 characters."),
  GRANT_SECRET_PREVIOUS: setting(
    secret,
    null,
    "The previous grant secret. Set it as long as grants signed with it should be accepted.",
  ),
  KEY_PEPPER: setting(
    secret,
    null,
    "Pepper of API key and password hashes. At least 32 characters.",
  ),
  KEY_PEPPER_PREVIOUS: setting(
    secret,
    null,
    "The previous pepper. Set it as long as hashes made with it should be accepted.",
  ),
  DATA_KEYS: setting(
    dataKeys,
    null,
    "JSON, key id → 32 bytes in base64: encrypts stored credentials. The first key encrypts; all of them can decrypt.",
  ),
  BCRYPT_COST: withDefault(
    integerSetting(4, 15),
    "12",
    "Cost of password hashes; at least 10 in production.",
  ),
  ENTRA_TENANT_ID: setting(
    guid,
    null,
    "Tenant of the operators; the three settings below derive from it.",
  ),
  OPERATOR_ISSUER: setting(text, null, "Issuer of operator tokens."),
  OPERATOR_AUDIENCE: setting(
    severalWords,
    null,
    "Audience of operator tokens: the API's client id or URI. Several are separated by spaces; Entra ID names one API in both ways.",
  ),
  OPERATOR_JWKS_URL: setting(httpUrl, null, "Where the issuer publishes its keys."),
  RATE_LIMIT_PER_MINUTE: withDefault(
    integerSetting(1, 1_000_000),
    "300",
    "Requests per minute and API key.",
  ),
  PLATFORM_RATE_PER_MINUTE: withDefault(
    integerSetting(1, 1_000_000),
    "3000",
    "Requests per minute of all API keys of a platform together; never less than RATE_LIMIT_PER_MINUTE.",
  ),
  AUTH_RATE_PER_MINUTE: withDefault(
    integerSetting(1, 1_000_000),
    "30",
    "Logins, sign-ups and uses of links per minute and address. An IPv6 /48 network has four times as many.",
  ),
  LOGIN_ATTEMPTS: withDefault(
    integerSetting(1, 100),
    "5",
    "Failed logins with an email address from one network within 15 minutes, after which further ones are refused. From all networks together, twenty times as many within an hour.",
  ),
  TRUSTED_PROXY_HOPS: withDefault(
    integerSetting(0, 10),
    "1",
    "How many entries of X-Forwarded-For, counted from the right, our own proxies added: 1 on Azure and with `npm start`, 0 where nothing adds any.",
  ),
  BALANCE_LOW_TOKENS: withDefault(
    integerSetting(0, 1_000_000_000),
    "100",
    "Below this, a balance counts as low.",
  ),
  LEG_RETRY_SECONDS: withDefault(
    seconds,
    "5,30,120,600,1800",
    "Delays before the 2nd, 3rd … attempt of a leg that was certainly not sent.",
  ),
  LEG_PACE_PER_SECOND: withDefault(
    integerSetting(1, 10_000),
    "10",
    "Rate, in legs per second, to which a platform's bursts of more than 50 legs are slowed down, so that other platforms don't wait.",
  ),
  DUPLICATE_WINDOW_HOURS: withDefault(
    integerSetting(0, 8_760),
    "48",
    "How long the same text can't be published to an account again.",
  ),
  NETWORK_TIMEOUT_MS: withDefault(
    integerSetting(100, 120_000),
    "60000",
    "Time limit of a call to a network.",
  ),
  LEG_LEASE_SECONDS: withDefault(
    integerSetting(1, 3_600),
    "120",
    "How long a worker owns a leg. Must be longer than the network timeout.",
  ),
  WORK_CHECK_SECONDS: withDefault(
    integerSetting(1, 3_600),
    "60",
    "Interval at which unfinished work is checked again.",
  ),
  WEBHOOK_RETRY_SECONDS: withDefault(
    seconds,
    "5,300,1800,7200,18000,36000,50400,72000,86400",
    "Delays before the 2nd, 3rd … attempt of a webhook delivery.",
  ),
  WEBHOOK_TIMEOUT_MS: withDefault(
    integerSetting(100, 60_000),
    "10000",
    "Time limit of a call to a webhook receiver.",
  ),
  DAILY_WALKS_AT: withDefault(
    integerSetting(0, 23),
    "3",
    "Hour (UTC) at which the daily work begins: the check of each linked account, and the removal of expired rows.",
  ),
  TICK_SECONDS: withDefault(
    integerSetting(1, 60),
    "60",
    "Seconds between two runs of the timer. Lower values are for tests only; production refuses them.",
  ),
  OUTBOUND_HOST_MAP: withDefault(
    shape(() =>
      jsonSetting(
        z.record(hostName(), origin()),
        `must be a JSON object such as {"graph.facebook.com":"http://127.0.0.1:7072"}`,
      ),
    ),
    "{}",
    "Development only. JSON, host → origin that is called instead of it.",
  ),
  OUTBOUND_ALLOW_CIDRS: withDefault(
    shape(() =>
      withRule(
        list(),
        (parts) => parts.every(isAddressRange),
        "must be ranges of addresses such as 127.0.0.1/32, separated by commas",
      ),
    ),
    "",
    "Development only. Private address ranges that may be called, e.g. 127.0.0.1/32. With this one, webhook endpoints may be `http://localhost` and `http://127.0.0.1`.",
  ),
  OUTBOUND_NAME_SERVERS: withDefault(
    shape(() =>
      withRule(
        list(),
        (parts) => parts.every(isNameServer),
        "must be addresses such as 127.0.0.1 or 127.0.0.1:5353, separated by commas",
      ),
    ),
    "",
    "Development only. The name servers that resolve hosts chosen by customers. By default, those of the system.",
  ),
  LOG_LEVEL: withDefault(
    shape(() => oneOfWords("debug", "info", "warn", "error")),
    "info",
    "Minimum level that is logged.",
  ),
} as const satisfies Record<string, Setting<unknown>>;

/** Every setting of the app: its own and those of the networks. Nothing else reads the environment. */
export const SETTINGS: typeof OWN_SETTINGS & Readonly<Record<string, Setting<unknown>>> = {
  ...OWN_SETTINGS,
  ...networkTables(),
};

function networkTables(): Readonly<Record<string, Setting<unknown>>> {
  const tables = Object.values(SETTINGS_BY_NETWORK).map((settings) => settings?.table ?? {});
  return Object.assign({}, ...tables) as Record<string, Setting<unknown>>;
}

export type Settings = {
  readonly [Name in keyof typeof OWN_SETTINGS]: ValueOf<(typeof OWN_SETTINGS)[Name]>;
};
