import { appAdmin, keyOrSession } from "../shared/http/access.ts";
import { paged } from "../shared/http/reply.ts";
import { route } from "../shared/http/route.ts";
import { createKey } from "../shared/keys/create-key.ts";
import { deleteKey } from "../shared/keys/delete-key.ts";
import { listKeys } from "../shared/keys/list-keys.ts";
import { mintGrant } from "../shared/keys/mint-grant.ts";
import { renameKey } from "../shared/keys/rename-key.ts";
import { revokeKey } from "../shared/keys/revoke-key.ts";
import {
  CreateKeyBody,
  ListKeysQuery,
  MintGrantBody,
  RenameKeyBody,
} from "../shared/keys/schema.ts";

export const keyRoutes = [
  route("GET", "v1/keys", {
    summary: "List API keys, without their secrets.",
    access: keyOrSession,
    query: ListKeysQuery,
    status: 200,
    run: async ({ services, scope, query }) => paged(await listKeys(services, scope, query)),
  }),
  route("POST", "v1/keys", {
    summary: "Create an API key. Its secret is in this answer and in no other.",
    access: appAdmin,
    body: CreateKeyBody,
    status: 201,
    run: ({ services, scope, body }) => createKey(services, scope, body),
  }),
  route("PATCH", "v1/keys/{keyId}", {
    summary: "Rename an API key.",
    access: appAdmin,
    body: RenameKeyBody,
    status: 200,
    run: ({ services, scope, params, body }) => renameKey(services, scope, { ...params, ...body }),
  }),
  route("DELETE", "v1/keys/{keyId}", {
    summary: "Delete an API key and everything stored of it.",
    access: appAdmin,
    status: 204,
    run: ({ services, scope, params }) => deleteKey(services, scope, params.keyId),
  }),
  route("POST", "v1/keys/{keyId}/revoke", {
    summary: "Revoke an API key; it stays listed.",
    access: appAdmin,
    status: 204,
    run: ({ services, scope, params }) => revokeKey(services, scope, params.keyId),
  }),
  route("POST", "v1/profile-grants", {
    summary: "Mint a grant that lets a restricted key act on a profile for a while.",
    access: appAdmin,
    body: MintGrantBody,
    status: 201,
    run: ({ services, scope, body }) => mintGrant(services, scope, body),
  }),
];
