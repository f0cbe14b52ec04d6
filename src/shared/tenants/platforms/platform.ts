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

/** What access is judged on, in one row: the platform, and which of its applications may not work. */
export interface PlatformAccess {
  readonly status: PlatformStatus;
  readonly disabledApplicationIds: readonly string[];
}
