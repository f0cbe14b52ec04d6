import type { PlatformScope } from "../callers/scope.ts";
import { AppError, notFound, validationFailed } from "../errors.ts";
import type { Services } from "../services.ts";
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
  services: Services,
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

const wrongExpiry = (code: string, message: string) =>
  validationFailed([{ path: "expiresAt", code, message }]);

function expiryOf(asked: string | null | undefined, now: Date): string | null {
  if (asked === null || asked === undefined) return null;
  const time = Date.parse(asked);
  if (time <= now.getTime()) throw wrongExpiry("too_small", "must be in the future");
  return new Date(time).toISOString();
}

/** A key that a key makes ends with it at the latest. */
async function expiryWithin(
  services: Services,
  { caller }: PlatformScope,
  asked: string | null,
): Promise<string | null> {
  if (caller.kind === "session") return asked;
  const maker = await services.keys.findWithHash(caller.keyId);
  const end = maker?.key.expiresAt ?? null;
  if (end === null || asked === null) return asked ?? end;
  if (Date.parse(asked) > Date.parse(end))
    throw wrongExpiry("too_big", `must not be after ${end}, when the key that makes it expires`);
  return asked;
}

/**
 * @throws AppError `application_mismatch`, `application_header_required`, `not_found`, `validation_failed`,
 * `limit_reached`, `api_key_revoked`
 */
export async function createKey(
  services: Services,
  scope: PlatformScope,
  input: CreateKey,
): Promise<KeyCreated> {
  const now = services.clock.now();
  const expiresAt = await expiryWithin(services, scope, expiryOf(input.expiresAt, now));
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
