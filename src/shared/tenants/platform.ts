export const PLATFORM_STATUSES = ["active", "suspended", "closed"] as const;
export type PlatformStatus = (typeof PLATFORM_STATUSES)[number];

/** What operators may give a platform. Its owners close it. */
export const OPERATED_STATUSES = ["active", "suspended"] as const;
export type OperatedStatus = (typeof OPERATED_STATUSES)[number];

const DAY_MS = 24 * 60 * 60_000;
/** How long a closed platform can be opened again. */
const CLOSED_MS = 7 * DAY_MS;
/** When its owners get the last mail. */
const ANNOUNCED_MS = 6 * DAY_MS;

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

const after = (at: string, ms: number) => new Date(Date.parse(at) + ms);

/** Returns when a platform is erased that was closed then. */
export const erasedAt = (closedAt: string) => after(closedAt, CLOSED_MS);

/** Returns when the erasure of a platform is announced that was closed then. */
export const announcedAt = (closedAt: string) => after(closedAt, ANNOUNCED_MS);
