export const PLATFORM_STATUSES = ["active", "suspended"] as const;
export type PlatformStatus = (typeof PLATFORM_STATUSES)[number];

/** The paying customer: owns a wallet, applications and staff. */
export interface Platform {
  readonly id: string;
  readonly name: string;
  readonly status: PlatformStatus;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** What requests are checked against: the platform's status, and which of its applications are disabled. */
export interface PlatformAccess {
  readonly status: PlatformStatus;
  readonly disabledApplicationIds: readonly string[];
}
