import type { Sessions } from "../callers/tokens.ts";
import type { Limits } from "../limits/limits.ts";
import type { PublishingDeps } from "../publishing/publishing.ts";
import type { SharedOutcome } from "../runtime/promises.ts";
import type { RotatingKeys } from "../runtime/rotating-keys.ts";
import type { ErasureStore } from "./erasure/erasure-store.ts";
import type { KeyStore } from "./keys/key-store.ts";
import type { Grants } from "./profiles/grant.ts";
import type { EmailStore } from "./staff/email-store.ts";
import type { Passwords } from "./staff/password.ts";
import type { ApplicationStore } from "./applications/application-store.ts";
import type { Readiness } from "./platforms/readiness.ts";
import type { PlatformStore } from "./platforms/platform-store.ts";
import type { ProfileStore } from "./profiles/profile-store.ts";
import type { UserStore } from "./staff/user-store.ts";

/** What the verbs of platforms, their staff and what they own need from the process. */
export interface TenantsDeps extends PublishingDeps {
  readonly limits: Limits;
  readonly platforms: PlatformStore;
  readonly applications: ApplicationStore;
  readonly profiles: ProfileStore;
  readonly users: UserStore;
  readonly emails: EmailStore;
  readonly keys: KeyStore;
  readonly erasures: ErasureStore;
  readonly keyPeppers: RotatingKeys;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly grants: Grants;
  /** The last check of whether the process can do its work. */
  readonly readiness: SharedOutcome<Readiness>;
}
