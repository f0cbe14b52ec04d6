import type { ProfileScope } from "../callers/scope.ts";
import type { Connection } from "./connection.ts";

/** A profile with the accounts that are linked to it, as they were when the request came. */
export interface PublishingScope extends ProfileScope {
  readonly connections: readonly Connection[];
}
