export const APPLICATION_STATUSES = ["active", "disabled"] as const;
export type ApplicationStatus = (typeof APPLICATION_STATUSES)[number];

/** A product isolation unit of a platform. */
export interface Application {
  readonly id: string;
  readonly name: string;
  readonly status: ApplicationStatus;
  readonly createdAt: string;
  readonly updatedAt: string;
}
