import { createApplication } from "../shared/applications/create-application.ts";
import { getApplication } from "../shared/applications/get-application.ts";
import { listApplications } from "../shared/applications/list-applications.ts";
import {
  CreateApplicationBody,
  ListApplicationsQuery,
  UpdateApplicationBody,
} from "../shared/applications/schema.ts";
import { updateApplication } from "../shared/applications/update-application.ts";
import { keyOrSession, sessionOnly } from "../shared/http/access.ts";
import { paged } from "../shared/http/reply.ts";
import { route } from "../shared/http/route.ts";

export const applicationRoutes = [
  route("GET", "v1/applications", {
    summary: "List applications: all of the platform for a session, its own for a key.",
    access: keyOrSession,
    query: ListApplicationsQuery,
    status: 200,
    run: async ({ services, scope, query }) =>
      paged(await listApplications(services, scope, query)),
  }),
  route("POST", "v1/applications", {
    summary: "Create an application, with its first key unless that is declined.",
    access: sessionOnly,
    body: CreateApplicationBody,
    status: 201,
    run: ({ services, scope, body }) => createApplication(services, scope, body),
  }),
  route("GET", "v1/applications/{applicationId}", {
    summary: "Read an application.",
    access: keyOrSession,
    status: 200,
    run: ({ services, scope, params }) => getApplication(services, scope, params.applicationId),
  }),
  route("PATCH", "v1/applications/{applicationId}", {
    summary: "Rename, disable or enable an application.",
    access: sessionOnly,
    body: UpdateApplicationBody,
    status: 200,
    run: ({ services, scope, params, body }) =>
      updateApplication(services, scope, { ...params, ...body }),
  }),
];
