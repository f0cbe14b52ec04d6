/** `erasing`: the profile is being removed, and nothing can undo that. */
export const PROFILE_STATUSES = ["active", "disabled", "erasing"] as const;
type ProfileStatus = (typeof PROFILE_STATUSES)[number];

/** One of the platform's end customers or organizations. */
export interface Profile {
  readonly id: string;
  readonly applicationId: string;
  readonly title: string;
  /** The platform's own id of the profile, unique within the application. */
  readonly externalId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly status: ProfileStatus;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface ProfileFilter {
  readonly applicationId: string | null;
  readonly externalId?: string | undefined;
  readonly status?: ProfileStatus | undefined;
}

export function fitsProfileFilter(profile: Profile, filter: ProfileFilter): boolean {
  const { applicationId, externalId, status } = filter;
  return (
    (applicationId === null || profile.applicationId === applicationId) &&
    (externalId === undefined || profile.externalId === externalId) &&
    (status === undefined || profile.status === status)
  );
}

export interface ProfileView extends Profile {
  readonly connections: readonly {
    readonly platform: string;
    readonly status: string;
    readonly username: string;
  }[];
}
