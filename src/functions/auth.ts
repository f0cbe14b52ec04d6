import { logIn } from "../shared/accounts/log-in.ts";
import { logOut } from "../shared/accounts/log-out.ts";
import { LogInBody, SignUpBody } from "../shared/accounts/schema.ts";
import { signUp } from "../shared/accounts/sign-up.ts";
import { sessionOnly, signingIn } from "../shared/http/access.ts";
import { route } from "../shared/http/route.ts";

export const authRoutes = [
  route("POST", "v1/auth/signup", {
    summary: "Create a platform with its first user, and sign in.",
    access: signingIn,
    body: SignUpBody,
    status: 201,
    run: ({ services, scope, body }) => signUp(services, scope, body),
  }),
  route("POST", "v1/auth/login", {
    summary: "Sign in to the dashboard.",
    access: signingIn,
    body: LogInBody,
    status: 200,
    run: ({ services, scope, body }) => logIn(services, scope, body),
  }),
  route("POST", "v1/auth/logout", {
    summary: "End every session of the user.",
    access: sessionOnly,
    status: 204,
    run: ({ services, scope }) => logOut(services, scope),
  }),
];
