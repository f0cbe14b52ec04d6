import { createUser, deleteUser, listUsers } from "../shared/tenants/staff/manage-users.ts";
import {
  CreateUserBody,
  createUserExample,
  ListUsersQuery,
  user,
  userExample,
} from "../shared/tenants/staff/schema.ts";
import { sessionOnly } from "../shared/http/access/access.ts";
import { route } from "../shared/http/route.ts";

export const userRoutes = [
  route("GET", "v1/users", {
    operationId: "listUsers",
    summary: "List the platform's staff, newest first.",
    access: sessionOnly,
    query: ListUsersQuery,
    status: 200,
    list: true,
    response: user,
    examples: () => ({ answer: userExample() }),
    run: ({ services, scope, query }) => listUsers(services, scope, query),
  }),
  route("POST", "v1/users", {
    operationId: "createUser",
    summary: "Add a colleague, who can sign in at once.",
    description: "Tell them the password, which they change with `POST /v1/auth/password`.",
    access: sessionOnly,
    body: CreateUserBody,
    status: 201,
    response: user,
    errors: ["conflict"],
    examples: () => ({
      body: createUserExample(),
      answer: { ...userExample(), email: createUserExample().email, lastLoginAt: null },
    }),
    run: ({ services, scope, body }) => createUser(services, scope, body),
  }),
  route("DELETE", "v1/users/{userId}", {
    operationId: "deleteUser",
    summary: "Remove a colleague or yourself; never the last one.",
    description: "Their sessions and the profile grants they minted stop at once.",
    access: sessionOnly,
    status: 204,
    errors: ["not_found", "invalid_state"],
    run: ({ services, scope, params }) => deleteUser(services, scope, params.userId),
  }),
];
