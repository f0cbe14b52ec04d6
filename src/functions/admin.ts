import { createPlatform } from "../shared/accounts/create-platform.ts";
import { listPlatforms } from "../shared/accounts/list-platforms.ts";
import { readAccount } from "../shared/accounts/platform-account.ts";
import {
  CreatePlatformBody,
  ListPlatformsQuery,
  UpdatePlatformBody,
} from "../shared/accounts/schema.ts";
import { updatePlatform } from "../shared/accounts/update-platform.ts";
import { listAllAudit, ListAuditQuery } from "../shared/audit/list-audit.ts";
import { operator } from "../shared/http/access.ts";
import { paged } from "../shared/http/reply.ts";
import { route } from "../shared/http/route.ts";

export const adminRoutes = [
  route("GET", "v1/admin/platforms", {
    summary: "List all platforms.",
    access: operator("Admin", "Operator"),
    query: ListPlatformsQuery,
    status: 200,
    run: async ({ services, scope, query }) => paged(await listPlatforms(services, scope, query)),
  }),
  route("POST", "v1/admin/platforms", {
    summary: "Create a platform with its first user.",
    access: operator("Admin"),
    body: CreatePlatformBody,
    status: 201,
    run: ({ services, scope, body }) => createPlatform(services, scope, body),
  }),
  route("GET", "v1/admin/platforms/{platformId}", {
    summary: "Read a platform with its wallet, applications and counts.",
    access: operator(),
    status: 200,
    run: ({ services, params }) => readAccount(services, params.platformId, null),
  }),
  route("PATCH", "v1/admin/platforms/{platformId}", {
    summary: "Suspend a platform or bring it back.",
    access: operator("Admin"),
    body: UpdatePlatformBody,
    status: 200,
    run: ({ services, scope, params, body }) =>
      updatePlatform(services, scope, { ...params, ...body }),
  }),
  route("GET", "v1/admin/audit", {
    summary: "Recent audit events of all platforms, as far as this process saw them.",
    access: operator("Admin", "Operator"),
    query: ListAuditQuery,
    status: 200,
    run: ({ services, scope, query }) => paged(listAllAudit(services, scope, query)),
  }),
];
