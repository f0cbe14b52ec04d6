import { appAdminOfApplication, keyOrSession, profileScope } from "../shared/http/access.ts";
import { route } from "../shared/http/route.ts";
import { profile } from "../shared/profiles/answer-schema.ts";
import { createProfile } from "../shared/profiles/create-profile.ts";
import { disabledExample, profileExample } from "../shared/profiles/examples.ts";
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
    operationId: "listProfiles",
    summary: "List profiles; a restricted key sees those of its allowlist.",
    access: keyOrSession,
    query: ListProfilesQuery,
    status: 200,
    list: true,
    response: profile,
    examples: () => ({ answer: profileExample() }),
    run: ({ services, scope, query }) => listProfiles(services, scope, query),
  }),
  route("POST", "v1/profiles", {
    operationId: "createProfile",
    summary: "Create a profile in the caller's application.",
    description:
      "`externalId` is your own id of the customer and unique within the application: a second profile with it is refused with 409 `conflict`, whose `details.existingId` names the first.",
    access: appAdminOfApplication,
    body: CreateProfileBody,
    status: 201,
    response: profile,
    errors: ["conflict"],
    examples: () => ({
      body: { title: "Corner Bakery", externalId: "customer-42", metadata: { plan: "pro" } },
      answer: { ...profileExample(), connections: [] },
    }),
    run: ({ services, scope, body }) => createProfile(services, scope, body),
  }),
  route("GET", "v1/profiles/{profileId}", {
    operationId: "getProfile",
    summary: "Read a profile.",
    access: profileScope,
    status: 200,
    response: profile,
    examples: () => ({ answer: profileExample() }),
    run: ({ services, scope }) => getProfile(services, scope),
  }),
  route("PATCH", "v1/profiles/{profileId}", {
    operationId: "updateProfile",
    summary: "Change a profile; fields that are not named stay.",
    description: 'An `externalId` of null or `""` clears it.',
    access: profileScope,
    body: UpdateProfileBody,
    status: 200,
    response: profile,
    errors: ["conflict"],
    examples: () => ({ body: { title: "Corner Bakery" }, answer: profileExample() }),
    run: ({ services, scope, body }) => updateProfile(services, scope, body),
  }),
  route("DELETE", "v1/profiles/{profileId}", {
    operationId: "disableProfile",
    summary: "Disable a profile; it can be brought back.",
    description:
      "Publishing, validating and connecting get 403 `profile_disabled`, due posts are skipped. Connections and `externalId` are kept; PATCH with `status: active` brings the profile back.",
    access: profileScope,
    status: 200,
    response: profile,
    examples: () => ({ answer: disabledExample() }),
    run: ({ services, scope }) => updateProfile(services, scope, { status: "disabled" }),
  }),
];
