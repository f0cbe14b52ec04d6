import { AppError } from "../runtime/errors.ts";
import type { Locale } from "../runtime/locale.ts";
import type {
  ApiKeyCaller,
  Caller,
  Maker,
  OperatorCaller,
  SessionCaller,
  SystemCaller,
} from "./caller.ts";

/**
 * The caller, and what the caller may access. The rules in `http/access` make the scopes of requests, and `host/worker.ts`
 * those of timers and of messages that belong to no tenant. A verb that needs a tenant takes the scope, and every store
 * call builds its keys from it.
 */
export interface RequestScope {
  readonly requestId: string;
  readonly ip: string;
  /** The language of the sentences that people read, by `Accept-Language`. Absent: English. */
  readonly locale?: Locale;
}

/** A platform, and one of its applications if the caller is bound to one or has named one. */
export interface PlatformScope extends RequestScope {
  readonly caller: ApiKeyCaller | SessionCaller;
  readonly platformId: string;
  readonly applicationId: string | null;
}

export interface SessionScope extends PlatformScope {
  readonly caller: SessionCaller;
}

export interface ApplicationScope extends PlatformScope {
  readonly applicationId: string;
}

/** Returns the scope of the application that the caller is bound to or has named. @throws AppError */
export function inApplication(scope: PlatformScope): ApplicationScope {
  const { applicationId } = scope;
  if (applicationId !== null) return { ...scope, applicationId };
  throw new AppError(
    "application_header_required",
    "A session names the application with the X-Application-Id header.",
  );
}

export interface ProfileScope extends RequestScope {
  readonly caller: Caller;
  /** Who minted the grant of a restricted key. Absent without a grant. */
  readonly grantedBy?: Maker;
  readonly platformId: string;
  readonly applicationId: string;
  readonly profileId: string;
}

/** The scope of a timer's run, which belongs to no tenant. Its verb finds the tenants that have work. */
export interface SystemScope extends RequestScope {
  readonly caller: SystemCaller;
}

export interface OperatorScope extends RequestScope {
  readonly caller: OperatorCaller;
}
