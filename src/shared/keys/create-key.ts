import type { PlatformScope } from "../callers/scope.ts";
import { AppError, notFound, refuseIssues, type Issue } from "../errors.ts";
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

/** What is wrong with the end of a key. What is no time at all, the schema tells. */
export function expiryIssues(asked: unknown, now: Date): readonly Issue[] {
  const isOver = typeof asked === "string" && Date.parse(asked) <= now.getTime();
  return isOver ? [{ path: "expiresAt", code: "too_small", message: "must be in the future" }] : [];
}

function expiryOf(asked: string | null | undefined, now: Date): string | null {
  refuseIssues(expiryIssues(asked, now));
  return asked === null || asked === undefined ? null : new Date(asked).toISOString();
}

/**
 * @throws AppError `application_mismatch`, `application_header_required`, `not_found`, `validation_failed`,
 * `limit_reached`
 */
export async function createKey(
  services: Services,
  scope: PlatformScope,
  input: CreateKey,
): Promise<KeyCreated> {
  const now = services.clock.now();
  const expiresAt = expiryOf(input.expiresAt, now);
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
