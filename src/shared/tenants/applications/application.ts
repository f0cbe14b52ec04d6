import type { KeyScope } from "../keys/key.ts";

export const APPLICATION_STATUSES = ["active", "disabled"] as const;
export type ApplicationStatus = (typeof APPLICATION_STATUSES)[number];

/** A product of a platform. Keys, profiles and webhooks belong to one application, and others can't see them. */
export interface Application {
  readonly id: string;
  readonly name: string;
  readonly status: ApplicationStatus;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface ApplicationCreated extends Application {
  /** The first key with its secret, which no other answer shows, or null when none was requested. */
  readonly apiKey: {
    readonly id: string;
    readonly name: string;
    readonly keyPrefix: string;
    readonly scope: KeyScope;
    readonly applicationId: string;
    readonly secret: string;
  } | null;
}
