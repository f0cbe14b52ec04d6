import { appAdminOfApplication, keyOrSession, profileScope } from "../shared/http/access.ts";
import { paged } from "../shared/http/reply.ts";
import { route } from "../shared/http/route.ts";
import { createProfile } from "../shared/profiles/create-profile.ts";
import { getProfile } from "../shared/profiles/get-profile.ts";
import { listProfiles } from "../shared/profiles/list-profiles.ts";
import {
  CreateProfileBody,
  ListProfilesQuery,
  UpdateProfileBody,
} from "../shared/profiles/schema.ts";
import { updateProfile } from "../shared/profiles/update-profile.ts";

export const profileRoutes = [
  route("GET", "v1/profiles", {
    summary: "List profiles; a restricted key sees those of its allowlist.",
    access: keyOrSession,
    query: ListProfilesQuery,
    status: 200,
    run: async ({ services, scope, query }) => paged(await listProfiles(services, scope, query)),
  }),
  route("POST", "v1/profiles", {
    summary: "Create a profile in the caller's application.",
    access: appAdminOfApplication,
    body: CreateProfileBody,
    status: 201,
    run: ({ services, scope, body }) => createProfile(services, scope, body),
  }),
  route("GET", "v1/profiles/{profileId}", {
    summary: "Read a profile.",
    access: profileScope,
    status: 200,
    run: ({ services, scope }) => getProfile(services, scope),
  }),
  route("PATCH", "v1/profiles/{profileId}", {
    summary: "Change a profile; fields that are not named stay.",
    access: profileScope,
    body: UpdateProfileBody,
    status: 200,
    run: ({ services, scope, body }) => updateProfile(services, scope, body),
  }),
  route("DELETE", "v1/profiles/{profileId}", {
    summary: "Disable a profile; it can be brought back.",
    access: profileScope,
    status: 200,
    run: ({ services, scope }) => updateProfile(services, scope, { status: "disabled" }),
  }),
];
