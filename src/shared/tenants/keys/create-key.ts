import { actorOf } from "../../callers/caller.ts";
import type { ApplicationScope, PlatformScope } from "../../callers/scope.ts";
import {
  AppError,
  limitReached,
  notFound,
  refuseIssues,
  type Issue,
} from "../../runtime/errors.ts";
import { newId } from "../../runtime/ids.ts";
import { newApiKey } from "../../runtime/secrets.ts";
import type { Row } from "../../runtime/storage/row.ts";
import { admitOwnersNotice, isMailOn, quotable, writeWithOwnersNotice } from "../../mail/mail.ts";
import type { KeyStore } from "./key-store.ts";
import type { TenantStores } from "../stores.ts";
import type { TenantsDeps } from "../deps.ts";
import type { Lineage } from "./key-row.ts";
import { EXPIRING_KEYS_MAX, LIVE_KEYS_MAX } from "./live-keys.ts";
import { viewKey, type ApiKey, type KeyCreated, type KeyScope } from "./key.ts";
import type { CreateKey } from "./schema.ts";
import { hashKeySecret } from "./verify-key.ts";

/** Maximum number of keys that a key can descend from. */
const LINEAGE_MAX = 500;

/** What the maker of a key chooses. */
export interface NewKey {
  readonly name: string;
  readonly scope: KeyScope;
  readonly allowedProfileIds: readonly string[];
  readonly expiresAt: string | null;
}

/** Returns the keys that a key made by this caller descends from. @throws AppError `limit_reached` */
async function lineageOf(
  keys: KeyStore,
  { caller, platformId }: ApplicationScope,
): Promise<Lineage> {
  if (caller.kind === "session") return [];
  const before = await keys.lineage({ id: caller.keyId, platformId });
  const lineage = [...before, caller.keyId];
  if (lineage.length <= LINEAGE_MAX) return lineage;
  // No request can name a deleted key any more, so its descendants need not be found by it.
  const found = await Promise.all(lineage.map((id) => keys.findWithHash(id)));
  const kept = lineage.filter((_id, index) => found[index] !== undefined);
  if (kept.length <= LINEAGE_MAX) return kept;
  throw limitReached(
    `A key descends from at most ${LINEAGE_MAX} others. Delete revoked ones, or make the key in a session.`,
  );
}

/** Returns the notice of a key that may do everything in its application. */
async function noticeOf(
  { config, stores }: Pick<TenantsDeps, "config" | "stores">,
  { id, name, platformId, applicationId }: ApiKey,
) {
  const found = isMailOn(config)
    ? await stores.applications.find(platformId, applicationId)
    : undefined;
  const named = (text: string, textId: string) => {
    const quoted = quotable(text);
    return quoted === "" ? textId : `“${quoted}” (${textId})`;
  };
  const key = named(name, id);
  const application = named(found?.name ?? "", applicationId);
  return { kind: "adminKeyMade", values: () => ({ key, application }) } as const;
}

/**
 * Makes and stores a key of the scope's application. Returns it with its secret, which is not stored.
 * @throws AppError `limit_reached`
 */
export async function issueKey(
  deps: TenantsDeps,
  scope: ApplicationScope,
  wanted: NewKey,
): Promise<{ readonly key: ApiKey; readonly secret: string }> {
  const now = deps.clock.now();
  const id = newId("key", now);
  const { secret, secretPart, keyPrefix } = newApiKey(id);
  const key: ApiKey = {
    id,
    platformId: scope.platformId,
    applicationId: scope.applicationId,
    name: wanted.name,
    scope: wanted.scope,
    allowedProfileIds: wanted.scope === "restricted" ? [...new Set(wanted.allowedProfileIds)] : [],
    keyPrefix,
    revoked: false,
    expiresAt: wanted.expiresAt,
    lastUsedAt: null,
    createdAt: now.toISOString(),
    createdBy: actorOf(scope.caller),
  };
  const lineage = await lineageOf(deps.stores.keys, scope);
  const hash = hashKeySecret(deps.secrets.keyPeppers, secretPart);
  const create = (rows: readonly Row[]) =>
    deps.stores.keys.create(key, hash, { lineage, more: rows });
  const isCreated =
    key.scope === "app_admin"
      ? await writeWithOwnersNotice(deps.mail, key.platformId, await noticeOf(deps, key), create)
      : await create([]);
  if (!isCreated)
    throw limitReached(
      `An application has at most ${LIVE_KEYS_MAX} API keys in use, and ${EXPIRING_KEYS_MAX} with those that expired within the hour. Revoke one, or wait.`,
    );
  deps.audit.record(scope, {
    action: "api_key.created",
    target: { type: "api_key", id },
    applicationId: key.applicationId,
  });
  return { key, secret };
}

const DEFAULT_NAME = "API key";

/** Returns the application for the key: the caller's own, or the one that a session names. */
async function applicationOf(
  applications: TenantStores["applications"],
  { caller, platformId, applicationId }: PlatformScope,
  asked: string | undefined,
): Promise<string> {
  if (applicationId !== null) {
    if (asked === undefined || asked === applicationId) return applicationId;
    const owner = caller.kind === "api_key" ? "The key's own" : "The X-Application-Id header's";
    throw new AppError("application_mismatch", `${owner} application is another one.`);
  }
  if (asked === undefined)
    throw new AppError(
      "application_header_required",
      "Name the application with applicationId or the X-Application-Id header.",
    );
  if ((await applications.find(platformId, asked)) === undefined) throw notFound();
  return asked;
}

const wrongExpiry = (code: string, message: string): readonly Issue[] => [
  { path: "expiresAt", code, message },
];

/** Returns the expiry of the calling key, or null for a session or a key that doesn't expire. */
async function expiryOfMaker(
  keys: KeyStore,
  { caller }: Pick<PlatformScope, "caller">,
): Promise<string | null> {
  if (caller.kind === "session") return null;
  const maker = await keys.findWithHash(caller.keyId);
  return maker?.key.expiresAt ?? null;
}

/**
 * Returns what is wrong with the expiry of a new key: it is in the past, or later than that of the key that makes it.
 * The schema reports text that isn't a time.
 */
export async function expiryIssues(
  deps: Pick<TenantsDeps, "clock" | "stores">,
  scope: Pick<PlatformScope, "caller">,
  asked: unknown,
): Promise<readonly Issue[]> {
  const time = typeof asked === "string" ? Date.parse(asked) : Number.NaN;
  if (Number.isNaN(time)) return [];
  if (time <= deps.clock.now().getTime())
    return wrongExpiry(
      "too_small",
      "must be in the future; leave it out for a key that does not expire",
    );
  const end = await expiryOfMaker(deps.stores.keys, scope);
  return end === null || time <= Date.parse(end)
    ? []
    : wrongExpiry("too_big", `must not be after ${end}, when the key that makes it expires`);
}

/** Returns the expiry of a new key, which is never later than its maker's. @throws AppError `validation_failed` */
async function expiryOf(
  deps: Pick<TenantsDeps, "clock" | "stores">,
  scope: PlatformScope,
  asked: string | null | undefined,
): Promise<string | null> {
  refuseIssues(await expiryIssues(deps, scope, asked));
  return asked ? new Date(asked).toISOString() : expiryOfMaker(deps.stores.keys, scope);
}

/**
 * Creates a key. Only this answer has its secret.
 * @throws AppError `application_mismatch`, `application_header_required`, `not_found`, `validation_failed`,
 * `limit_reached`, `rate_limited`
 */
export async function createKey(
  deps: TenantsDeps,
  scope: PlatformScope,
  input: CreateKey,
): Promise<KeyCreated> {
  const now = deps.clock.now();
  const expiresAt = await expiryOf(deps, scope, input.expiresAt);
  const { applications } = deps.stores;
  const applicationId = await applicationOf(applications, scope, input.applicationId);
  if (input.scope === "app_admin") await admitOwnersNotice(deps, scope.platformId);
  const { key, secret } = await issueKey(
    deps,
    { ...scope, applicationId },
    {
      name: input.name || DEFAULT_NAME,
      scope: input.scope,
      allowedProfileIds: input.allowedProfileIds,
      expiresAt,
    },
  );
  return { ...viewKey(key, now), secret };
}
