import { requestErasure } from "../shared/erasure/erasure.ts";
import {
  createProfile,
  updateProfile,
  getProfile,
  listProfiles,
} from "../shared/tenants/tenants.ts";
import { appAdmin, appAdminOfApplication, keyOrSession } from "../shared/http/access/access.ts";
import { profileScope } from "../shared/http/access/profile-access.ts";
import { ofOwner } from "../shared/http/access/narrowed-access.ts";
import { route } from "../shared/http/route.ts";
import {
  CreateProfileBody,
  disabledExample,
  erasingExample,
  ListProfilesQuery,
  profile,
  profileExample,
  UpdateProfileBody,
} from "../shared/tenants/profiles/schema.ts";

export const profileRoutes = [
  route("GET", "v1/profiles", {
    operationId: "listProfiles",
    summary: "List profiles",
    description:
      "Newest first. With `q`, those whose title or `externalId` begins with it, ordered by title; a session then names the application. A restricted key sees those on its allowlist.",
    access: keyOrSession,
    query: ListProfilesQuery,
    list: true,
    response: profile,
    errors: ["application_header_required"],
    examples: () => ({ answer: profileExample() }),
    run: ({ services, scope, query }) => listProfiles(services.tenants, scope, query),
  }),
  route("POST", "v1/profiles", {
    operationId: "createProfile",
    summary: "Create a profile",
    description:
      "Creates it in the caller's application. `externalId` is your own id for the customer, unique within the application. A second profile with the same `externalId` gets 409 `conflict`, and `details.existingId` is the id of the first.",
    access: appAdminOfApplication,
    body: CreateProfileBody,
    status: 201,
    response: profile,
    errors: ["conflict"],
    examples: () => ({
      body: { title: "Corner Bakery", externalId: "customer-42", metadata: { plan: "pro" } },
      answer: { ...profileExample(), connections: [] },
    }),
    run: ({ services, scope, body }) => createProfile(services.tenants, scope, body),
  }),
  route("GET", "v1/profiles/{profileId}", {
    operationId: "getProfile",
    summary: "Get a profile",
    access: profileScope,
    response: profile,
    examples: () => ({ answer: profileExample() }),
    run: ({ services, scope }) => getProfile(services.tenants, scope),
  }),
  route("PATCH", "v1/profiles/{profileId}", {
    operationId: "updateProfile",
    summary: "Update a profile",
    description:
      'Fields that aren\'t named stay unchanged. An `externalId` of null or `""` clears it.',
    access: profileScope,
    body: UpdateProfileBody,
    response: profile,
    errors: ["conflict", "invalid_state"],
    examples: () => ({ body: { title: "Corner Bakery" }, answer: profileExample() }),
    run: ({ services, scope, body }) => updateProfile(services.tenants, scope, body),
  }),
  route("DELETE", "v1/profiles/{profileId}", {
    operationId: "disableProfile",
    summary: "Disable a profile",
    description:
      "It can be reactivated. Publishing, validating and connecting get 403 `profile_disabled`, and due posts are skipped. Connections and `externalId` are kept. PATCH with `status: active` reactivates the profile.",
    access: profileScope,
    response: profile,
    errors: ["invalid_state"],
    examples: () => ({ answer: disabledExample() }),
    run: ({ services, scope }) => updateProfile(services.tenants, scope, { status: "disabled" }),
  }),
  route("POST", "v1/profiles/{profileId}/erase", {
    operationId: "eraseProfile",
    summary: "Erase a profile",
    description:
      "Permanently erases the profile with all its personal data. Title, `externalId` and metadata are erased immediately, and the `externalId` can be used again. Accounts are unlinked, their authorizations are revoked on the networks, scheduled posts are canceled, and legs that are being published finish. Then posts, events, deliveries and connect sessions are deleted. This takes at least 20 minutes, after which the profile returns 404. Ledger entries stay, with ids only. Published posts stay on the networks. The profile can't be restored.",
    access: ofOwner(appAdmin),
    status: 202,
    response: profile,
    errors: ["not_found"],
    examples: () => ({ answer: erasingExample() }),
    run: ({ services, scope, params }) => requestErasure(services.erasure, scope, params),
  }),
];
