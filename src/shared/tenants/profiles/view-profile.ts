import type { TenantsDeps } from "../deps.ts";
import type { Profile } from "./profile.ts";

export interface ProfileView extends Profile {
  readonly connections: readonly {
    readonly platform: string;
    readonly status: string;
    readonly username: string;
  }[];
}

/** The profile as an answer shows it, with the accounts that are linked to it. */
export async function viewProfile(services: TenantsDeps, profile: Profile): Promise<ProfileView> {
  const linked = await services.connections.listOfProfile(profile.id);
  const connections = linked
    .filter(({ status }) => status !== "revoked")
    .map(({ network, status, account }) => ({
      platform: network,
      status,
      username: account.username,
    }));
  const { id, applicationId, title, externalId, metadata, status, createdAt, updatedAt } = profile;
  return {
    id,
    applicationId,
    title,
    externalId,
    metadata,
    status,
    connections,
    createdAt,
    updatedAt,
  };
}
