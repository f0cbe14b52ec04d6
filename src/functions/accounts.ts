import { getMe } from "../shared/accounts/get-me.ts";
import { listAudit, ListAuditQuery } from "../shared/audit/list-audit.ts";
import { keyOrSession } from "../shared/http/access.ts";
import { paged } from "../shared/http/reply.ts";
import { route } from "../shared/http/route.ts";

export const accountRoutes = [
  route("GET", "v1/me", {
    summary: "The caller's platform with its wallet, applications and counts.",
    access: keyOrSession,
    status: 200,
    run: ({ services, scope }) => getMe(services, scope),
  }),
  route("GET", "v1/audit", {
    summary: "Recent audit events of the platform, as far as this process saw them.",
    access: keyOrSession,
    query: ListAuditQuery,
    status: 200,
    run: ({ services, scope, query }) => paged(listAudit(services, scope, query)),
  }),
];
