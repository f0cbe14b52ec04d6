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
    "`Development`, spelled so, is for machines of developers: it allows http addresses, the outbound settings below, and a start without secrets. Any value but these two stops the start.",
  ),
  AzureWebJobsStorage: setting(text, null, "Connection string of the host's storage account."),
  AzureWebJobsStorage__accountName: setting(
    accountName,
    null,
    "The same by managed identity: the account's name.",
  ),
  DATA_STORAGE: setting(
    text,
    null,
    "Connection string of the data account, when it is not the host's.",
  ),
  DATA_STORAGE__accountName: setting(
    accountName,
    null,
    "The same by managed identity: the account's name.",
  ),
  MEDIA_STORAGE: setting(
    text,
    null,
    "Connection string of the account that has the files of customers. Without it, and without the next one, files can't be uploaded; in development they are in the host's account.",
  ),
  MEDIA_STORAGE__accountName: setting(
    accountName,
    null,
    "The same by managed identity: the account's name.",
  ),
  MEDIA_BYTES_MAX: withDefault(
    integerSetting(1, 5_242_880_000),
    "1073741824",
    "Largest file that can be uploaded, in bytes: at most what one PUT to Blob Storage can carry.",
  ),
  MEDIA_PLATFORM_BYTES_MAX: withDefault(
    integerSetting(1, 1_099_511_627_776),
    "21474836480",
    "Bytes of all files of a platform together. Until an operator has credited the platform it has 1 GiB at most.",
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
    "The service's name on consent pages and under posts of Mastodon and Bluesky, in authenticator apps, in the API's description, and where a wallet is short. At most 60 characters, no colon.",
  ),
  SERVICE_URL: setting(
    webAddress,
    null,
    "The page that this name leads to; the origin of PUBLIC_BASE_URL without it, and on Bluesky, which accepts no page on another host.",
  ),
  SUPPORT_URL: setting(
    webAddress,
    null,
    "Where the operators help: linked in mails, and on connect pages whose session has no support page of its own, and named where a wallet is short.",
  ),
  DASHBOARD_URL: setting(
    webAddress,
    null,
    "The page where your customers' staff log in. Mails and the pages of their links lead there; without it they don't speak of logging in.",
  ),
  MAIL_URL: setting(
    mailUrl,
    null,
    "The mail server, such as `smtp://user:password@smtp.example.com:587`; `smtps://` is encrypted from the first byte. Without it no mail is sent.",
  ),
  MAIL_FROM: setting(
    mailAddress,
    null,
    "The address that mails come from; its domain's SPF, DKIM and DMARC records have to name the mail server.",
  ),
  LINK_CARD_USER_AGENT: setting(
    userAgent,
    null,
    "The `User-Agent` with which pages behind links are read for their cards, for sites that turn away what they don't know; `publishing-relay/1` without it.",
  ),
  ALLOW_SIGNUP: withDefault(
    flag,
    "false",
    "Whether anybody may create a platform with POST /v1/auth/signup.",
  ),
  ALLOW_DIRECT_USERS: setting(
    flag,
    null,
    "Whether an owner may make users with a password (POST /v1/users) instead of inviting them; by default only where the relay sends no mail.",
  ),
  SIGNUP_CREDIT_TOKENS: withDefault(
    integerSetting(0, 1_000_000),
    "0",
    "Tokens that a platform starts with when somebody signs up, once per email; 0 for none.",
  ),
  SIGNUPS_PER_ADDRESS_DAY: withDefault(
    integerSetting(1, 1_000_000),
    "5",
    "Sign-ups per address and UTC day, those that fail included.",
  ),
  SESSION_SECRET: setting(
    secret,
    null,
    "Signs sessions, connect links and list cursors. At least 32 characters.",
  ),
  SESSION_SECRET_PREVIOUS: setting(
    secret,
    null,
    "The session secret before, while sessions that were signed with it are still to be accepted.",
  ),
  GRANT_SECRET: setting(secret, null, "Signs profile grants. At least 32 characters."),
  GRANT_SECRET_PREVIOUS: setting(
    secret,
    null,
    "The grant secret before, while grants that were signed with it are still to be accepted.",
  ),
  KEY_PEPPER: setting(
    secret,
    null,
    "Pepper of API key and password hashes. At least 32 characters.",
  ),
  KEY_PEPPER_PREVIOUS: setting(
    secret,
    null,
    "The pepper before, while hashes that were made with it are still to be accepted.",
  ),
  DATA_KEYS: setting(
    dataKeys,
    null,
    "JSON, key id → 32 bytes in base64: seals stored credentials; the first key seals, all open.",
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
    "Logins, sign-ups and uses of links per minute and address; four times as many for a /48 network of IPv6.",
  ),
  LOGIN_ATTEMPTS: withDefault(
    integerSetting(1, 100),
    "5",
    "Failed logins of an email from one network within 15 minutes, after which it has to wait. Twenty times as many from all networks within an hour.",
  ),
  TRUSTED_PROXY_HOPS: withDefault(
    integerSetting(0, 10),
    "1",
    "How many entries of X-Forwarded-For, counted from the right, our own proxies added: 1 on Azure and with `npm start`, 0 where nothing adds any.",
  ),
  BALANCE_LOW_TOKENS: withDefault(
    integerSetting(0, 1_000_000_000),
    "100",
    "Below this a wallet counts as low.",
  ),
  LEG_RETRY_SECONDS: withDefault(
    seconds,
    "5,30,120,600,1800",
    "Delays before the 2nd, 3rd … attempt of a leg that certainly was not sent.",
  ),
  LEG_PACE_PER_SECOND: withDefault(
    integerSetting(1, 10_000),
    "10",
    "Legs per second to which a platform's bursts of more than 50 legs are slowed, for the sake of other platforms.",
  ),
  DUPLICATE_WINDOW_HOURS: withDefault(
    integerSetting(0, 8_760),
    "48",
    "How long the same text is not published to an account again.",
  ),
  NETWORK_TIMEOUT_MS: withDefault(
    integerSetting(100, 120_000),
    "60000",
    "Longest call to a network.",
  ),
  LEG_LEASE_SECONDS: withDefault(
    integerSetting(1, 3_600),
    "120",
    "How long a worker owns a leg; longer than the network timeout.",
  ),
  WORK_CHECK_SECONDS: withDefault(
    integerSetting(1, 3_600),
    "60",
    "How soon the sweep checks open work again.",
  ),
  WEBHOOK_RETRY_SECONDS: withDefault(
    seconds,
    "5,300,1800,7200,18000,36000,50400,72000,86400",
    "Delays before the 2nd, 3rd … attempt of a webhook delivery.",
  ),
  WEBHOOK_TIMEOUT_MS: withDefault(
    integerSetting(100, 60_000),
    "10000",
    "Longest call to a webhook receiver.",
  ),
  DAILY_WALKS_AT: withDefault(
    integerSetting(0, 23),
    "3",
    "Hour (UTC) at which the daily walks begin: the check of each linked account, and the removal of expired rows.",
  ),
  TICK_SECONDS: withDefault(
    integerSetting(1, 60),
    "60",
    "Seconds between two runs of the timer. Shorter for tests alone: production refuses that.",
  ),
  OUTBOUND_HOST_MAP: withDefault(
    shape(() =>
      jsonSetting(
        z.record(hostName(), origin()),
        `must be a JSON object such as {"graph.facebook.com":"http://127.0.0.1:7072"}`,
      ),
    ),
    "{}",
    "Development only. JSON, host → origin that stands in for it.",
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
    "Development only. Private address ranges that may be dialled, e.g. 127.0.0.1/32. With this one, webhook endpoints may be `http://localhost` and `http://127.0.0.1`.",
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
    "Development only. The name servers that are asked for hosts that customers chose; those of the system when empty.",
  ),
  LOG_LEVEL: withDefault(
    shape(() => oneOfWords("debug", "info", "warn", "error")),
    "info",
    "Least level that is logged.",
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
