import type { PlatformScope } from "../../callers/scope.ts";
import { AppError, notFound, refuseIssues, type Issue } from "../../runtime/errors.ts";
import type { TenantsDeps } from "../deps.ts";
import { issueKey } from "./issue-key.ts";
import { viewKey, type KeyView } from "./key.ts";
import type { CreateKey } from "./schema.ts";

const DEFAULT_NAME = "API key";

export interface KeyCreated extends KeyView {
  /** The only time it is shown. */
  readonly secret: string;
}

/** The application that the key is for: the caller's own, or the one that a session names. */
async function applicationOf(
  services: TenantsDeps,
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
  if ((await services.applications.find(platformId, asked)) === undefined) throw notFound();
  return asked;
}

const wrongExpiry = (code: string, message: string): readonly Issue[] => [
  { path: "expiresAt", code, message },
];

/** Whoever makes the key, when that is a key which ends. */
async function endOfMaker(
  services: TenantsDeps,
  { caller }: Pick<PlatformScope, "caller">,
): Promise<string | null> {
  if (caller.kind === "session") return null;
  const maker = await services.keys.findWithHash(caller.keyId);
  return maker?.key.expiresAt ?? null;
}

/**
 * What is wrong with the end of a key: it is past, or after that of the key that makes it. What is no time at all, the
 * schema tells.
 */
export async function expiryIssues(
  services: TenantsDeps,
  scope: Pick<PlatformScope, "caller">,
  asked: unknown,
): Promise<readonly Issue[]> {
  const time = typeof asked === "string" ? Date.parse(asked) : Number.NaN;
  if (Number.isNaN(time)) return [];
  if (time <= services.clock.now().getTime())
    return wrongExpiry("too_small", "must be in the future");
  const end = await endOfMaker(services, scope);
  return end === null || time <= Date.parse(end)
    ? []
    : wrongExpiry("too_big", `must not be after ${end}, when the key that makes it expires`);
}

/** A key that a key makes ends with it at the latest. @throws AppError `validation_failed` */
async function expiryOf(
  services: TenantsDeps,
  scope: PlatformScope,
  asked: string | null | undefined,
): Promise<string | null> {
  refuseIssues(await expiryIssues(services, scope, asked));
  return asked ? new Date(asked).toISOString() : endOfMaker(services, scope);
}

/**
 * @throws AppError `application_mismatch`, `application_header_required`, `not_found`, `validation_failed`,
 * `limit_reached`, `api_key_revoked`
 */
export async function createKey(
  services: TenantsDeps,
  scope: PlatformScope,
  input: CreateKey,
): Promise<KeyCreated> {
  const now = services.clock.now();
  const expiresAt = await expiryOf(services, scope, input.expiresAt);
  const applicationId = await applicationOf(services, scope, input.applicationId);
  const { key, secret } = await issueKey(
    services,
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
