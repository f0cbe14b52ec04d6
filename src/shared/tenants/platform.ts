export const PLATFORM_STATUSES = ["active", "suspended", "closed"] as const;
export type PlatformStatus = (typeof PLATFORM_STATUSES)[number];

/** Statuses that operators may give a platform. Only its owners can close it. */
export const OPERATED_STATUSES = ["active", "suspended"] as const;
export type OperatedStatus = (typeof OPERATED_STATUSES)[number];

const DAY_MS = 24 * 60 * 60_000;
/** How long a closed platform can be opened again. */
const CLOSED_MS = 7 * DAY_MS;
/** When the owners get the last mail. */
const ANNOUNCED_MS = 6 * DAY_MS;

/** The paying customer, who owns a wallet, applications and staff. */
export interface Platform {
  readonly id: string;
  readonly name: string;
  readonly status: PlatformStatus;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** What requests are checked against: the platform's status, and its disabled applications. */
export interface PlatformAccess {
  readonly status: PlatformStatus;
  readonly disabledApplicationIds: readonly string[];
}

const msAfter = (at: string, ms: number) => new Date(Date.parse(at) + ms);

/** Returns when a platform closed at that time is erased. */
export const erasedAt = (closedAt: string) => msAfter(closedAt, CLOSED_MS);

/** Returns when the erasure of a platform closed at that time is announced. */
export const announcedAt = (closedAt: string) => msAfter(closedAt, ANNOUNCED_MS);
