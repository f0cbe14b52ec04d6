import {
  application,
  applicationCreated,
  applicationCreatedExample,
  applicationExample,
  CreateApplicationBody,
  ListApplicationsQuery,
  UpdateApplicationBody,
} from "../shared/tenants/applications/schema.ts";
import { createApplication } from "../shared/tenants/applications/create-application.ts";
import {
  getApplication,
  listApplications,
} from "../shared/tenants/applications/read-applications.ts";
import { updateApplication } from "../shared/tenants/applications/update-application.ts";
import { keyOrSession, sessionOnly } from "../shared/http/access/access.ts";
import { route } from "../shared/http/route.ts";

export const applicationRoutes = [
  route("GET", "v1/applications", {
    operationId: "listApplications",
    summary: "List applications: all of the platform for a session, its own for a key.",
    access: keyOrSession,
    query: ListApplicationsQuery,
    status: 200,
    list: true,
    response: application,
    examples: () => ({ answer: applicationExample() }),
    run: ({ services, scope, query }) => listApplications(services, scope, query),
  }),
  route("POST", "v1/applications", {
    operationId: "createApplication",
    summary: "Create an application, with its first key unless that is declined.",
    access: sessionOnly,
    body: CreateApplicationBody,
    status: 201,
    response: applicationCreated,
    examples: () => ({ body: { name: "Planner" }, answer: applicationCreatedExample() }),
    run: ({ services, scope, body }) => createApplication(services, scope, body),
  }),
  route("GET", "v1/applications/{applicationId}", {
    operationId: "getApplication",
    summary: "Read an application.",
    access: keyOrSession,
    status: 200,
    response: application,
    errors: ["not_found"],
    examples: () => ({ answer: applicationExample() }),
    run: ({ services, scope, params }) => getApplication(services, scope, params.applicationId),
  }),
  route("PATCH", "v1/applications/{applicationId}", {
    operationId: "updateApplication",
    summary: "Rename, disable or enable an application.",
    description:
      "Keys of a disabled application get 403 `application_disabled`, and its due posts are skipped.",
    access: sessionOnly,
    body: UpdateApplicationBody,
    status: 200,
    response: application,
    errors: ["not_found"],
    examples: () => {
      const status = "disabled" as const;
      return { body: { status }, answer: { ...applicationExample(), status } };
    },
    run: ({ services, scope, params, body }) =>
      updateApplication(services, scope, { ...params, ...body }),
  }),
];
