import type { PlatformScope } from "../../callers/scope.ts";
import type { TenantsDeps } from "../deps.ts";
import { readAccount, type ApplicationSummary, type PlatformAccount } from "./platform-account.ts";

export interface Me extends PlatformAccount {
  readonly application: ApplicationSummary | null;
  readonly auth: {
    readonly kind: "api_key" | "session";
    readonly apiKeyId: string | null;
    readonly userId: string | null;
    readonly applicationId: string | null;
  };
}

/** The caller's platform, seen from the application that the key or the header names. */
export async function getMe(services: TenantsDeps, scope: PlatformScope): Promise<Me> {
  const { caller, platformId, applicationId } = scope;
  const account = await readAccount(services, platformId, applicationId);
  return {
    ...account,
    application: account.applications.find(({ id }) => id === applicationId) ?? null,
    auth: {
      kind: caller.kind,
      apiKeyId: caller.kind === "api_key" ? caller.keyId : null,
      userId: caller.kind === "session" ? caller.userId : null,
      applicationId,
    },
  };
}
