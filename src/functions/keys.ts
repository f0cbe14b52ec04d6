import { appAdmin, keyOrSession } from "../shared/http/access/access.ts";
import { confirmed, ofOwner } from "../shared/http/access/narrowed-access.ts";
import { route } from "../shared/http/route.ts";
import { exampleId } from "../shared/runtime/ids.ts";
import {
  apiKey,
  apiKeyCreated,
  CreateKeyBody,
  createKeyExample,
  EndKeyQuery,
  grantExample,
  keyCreatedExample,
  keyExample,
  ListKeysQuery,
  MintGrantBody,
  profileGrant,
  RenameKeyBody,
} from "../shared/tenants/keys/schema.ts";
import {
  createKey,
  expiryIssues,
  deleteKey,
  renameKey,
  revokeKey,
  listKeys,
  mintGrant,
} from "../shared/tenants/tenants.ts";

export const keyRoutes = [
  route("GET", "v1/keys", {
    operationId: "listKeys",
    summary: "List API keys",
    description:
      "Without their secrets. A key sees its application's keys, and a restricted key only itself. A session sees those of the application it names, or of the whole platform.",
    access: keyOrSession,
    query: ListKeysQuery,
    list: true,
    response: apiKey,
    examples: () => ({ answer: keyExample() }),
    run: ({ services, scope, query }) => listKeys(services.tenants, scope, query),
  }),
  route("POST", "v1/keys", {
    operationId: "createKey",
    summary: "Create an API key",
    description:
      "Returns the key's secret, which is never returned again. A key can create keys only for its own application, and they can't expire later than the key itself. A session names the application with `applicationId` or the header. An application can have up to 1,000 keys in use.",
    access: confirmed(ofOwner(appAdmin)),
    body: CreateKeyBody,
    moreIssues: ({ services, scope, body }) =>
      expiryIssues(services.tenants, scope, body["expiresAt"]),
    status: 201,
    response: apiKeyCreated,
    errors: ["application_mismatch", "application_header_required", "not_found", "limit_reached"],
    examples: () => ({ body: createKeyExample(), answer: keyCreatedExample() }),
    run: ({ services, scope, body }) => createKey(services.tenants, scope, body),
  }),
  route("PATCH", "v1/keys/{keyId}", {
    operationId: "renameKey",
    summary: "Rename an API key",
    access: ofOwner(appAdmin),
    body: RenameKeyBody,
    response: apiKey,
    errors: ["not_found"],
    examples: () => ({ body: { name: "Backend" }, answer: keyExample() }),
    run: ({ services, scope, params, body }) =>
      renameKey(services.tenants, scope, { ...params, ...body }),
  }),
  route("DELETE", "v1/keys/{keyId}", {
    operationId: "deleteKey",
    summary: "Delete an API key",
    description:
      "Deletes everything stored about it, too. With `descendants=true`, the keys created with it, directly or indirectly, are deleted too: at most 1,000 per call. If there are more, the response is `limit_reached`; repeat the call.",
    access: ofOwner(appAdmin),
    query: EndKeyQuery,
    status: 204,
    errors: ["not_found", "limit_reached"],
    run: ({ services, scope, params, query }) =>
      deleteKey(services.tenants, scope, { ...params, ...query }),
  }),
  route("POST", "v1/keys/{keyId}/revoke", {
    operationId: "revokeKey",
    summary: "Revoke an API key",
    description:
      "A revoked key stays listed. It stops working immediately, and so do the profile grants created with it. With `descendants=true`, the keys created with it, directly or indirectly, are revoked too. Otherwise they continue to work.",
    access: ofOwner(appAdmin),
    query: EndKeyQuery,
    status: 204,
    errors: ["not_found"],
    run: ({ services, scope, params, query }) =>
      revokeKey(services.tenants, scope, { ...params, ...query }),
  }),
  route("POST", "v1/profile-grants", {
    operationId: "mintProfileGrant",
    summary: "Create a profile grant",
    description:
      "Lets a restricted key act for a profile for a limited time. The grant isn't a credential by itself. Send it in the `X-Profile-Grant` header, together with a restricted key of the same application.",
    access: appAdmin,
    body: MintGrantBody,
    status: 201,
    response: profileGrant,
    errors: ["not_found"],
    examples: () => ({ body: { profileId: exampleId("profile") }, answer: grantExample() }),
    run: ({ services, scope, body }) => mintGrant(services.tenants, scope, body),
  }),
];
