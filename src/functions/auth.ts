import { recoveryCodes, signedIn, totpSecret } from "../shared/tenants/staff/answer-schema.ts";
import { changePassword } from "../shared/tenants/staff/change-password.ts";
import { confirmTotp } from "../shared/tenants/staff/confirm-totp.ts";
import {
  changePasswordExample,
  recoveryCodesExample,
  logInExample,
  removeTotpExample,
  sessionExample,
  signUpExample,
  totpSecretExample,
} from "../shared/tenants/staff/examples.ts";
import { logIn } from "../shared/tenants/staff/log-in.ts";
import { logOut } from "../shared/tenants/staff/log-out.ts";
import { removeTotp } from "../shared/tenants/staff/remove-totp.ts";
import {
  ChangePasswordBody,
  ConfirmTotpBody,
  LogInBody,
  RemoveTotpBody,
  SignUpBody,
} from "../shared/tenants/staff/schema.ts";
import { signUp } from "../shared/tenants/staff/sign-up.ts";
import { startTotp } from "../shared/tenants/staff/start-totp.ts";
import { sessionOnly, signingIn } from "../shared/http/access/access.ts";
import { route } from "../shared/http/route.ts";

export const authRoutes = [
  route("POST", "v1/auth/signup", {
    operationId: "signUp",
    summary: "Create a platform with its first user, and sign in.",
    description: "Where signing up is closed, the operators create platforms.",
    access: signingIn,
    body: SignUpBody,
    status: 201,
    response: signedIn,
    errors: ["signup_disabled", "conflict"],
    examples: () => ({ body: signUpExample(), answer: sessionExample() }),
    run: ({ services, scope, body }) => signUp(services, scope, body),
  }),
  route("POST", "v1/auth/login", {
    operationId: "logIn",
    summary: "Sign in to the dashboard.",
    description:
      "With TOTP on, a log-in without `totpCode` gets 401 `totp_required`; a recovery code is taken in its place, once. A wrong e-mail and a wrong password are the same answer.",
    access: signingIn,
    body: LogInBody,
    status: 200,
    response: signedIn,
    errors: ["invalid_credentials", "totp_required", "platform_suspended"],
    examples: () => ({ body: logInExample(), answer: sessionExample() }),
    run: ({ services, scope, body }) => logIn(services, scope, body),
  }),
  route("POST", "v1/auth/logout", {
    operationId: "logOut",
    summary: "End every session of the user.",
    access: sessionOnly,
    status: 204,
    run: ({ services, scope }) => logOut(services, scope),
  }),
  route("POST", "v1/auth/password", {
    operationId: "changePassword",
    summary: "Change the password, and end every other session of the user.",
    access: sessionOnly,
    body: ChangePasswordBody,
    status: 204,
    errors: ["invalid_credentials", "rate_limited"],
    examples: () => ({ body: changePasswordExample() }),
    run: ({ services, scope, body }) => changePassword(services, scope, body),
  }),
  route("POST", "v1/auth/totp", {
    operationId: "startTotp",
    summary: "Get a secret for an authenticator app.",
    description:
      "Log-ins ask for nothing until its first code is confirmed. Another call before that replaces the secret.",
    access: sessionOnly,
    status: 201,
    response: totpSecret,
    errors: ["invalid_state"],
    examples: () => ({ answer: totpSecretExample() }),
    run: ({ services, scope }) => startTotp(services, scope),
  }),
  route("POST", "v1/auth/totp/confirm", {
    operationId: "confirmTotp",
    summary: "Switch TOTP on with the app's first code.",
    description:
      "The ten recovery codes are in this answer and in no other. Each takes the place of a code once.",
    access: sessionOnly,
    body: ConfirmTotpBody,
    status: 200,
    response: recoveryCodes,
    errors: ["invalid_state", "invalid_credentials", "rate_limited"],
    examples: () => ({ body: { code: "492039" }, answer: recoveryCodesExample() }),
    run: ({ services, scope, body }) => confirmTotp(services, scope, body),
  }),
  route("DELETE", "v1/auth/totp", {
    operationId: "removeTotp",
    summary: "Switch TOTP off, and forget its recovery codes.",
    description: "`code` is one of the app or a recovery code.",
    access: sessionOnly,
    body: RemoveTotpBody,
    status: 204,
    errors: ["invalid_state", "invalid_credentials", "rate_limited"],
    examples: () => ({ body: removeTotpExample() }),
    run: ({ services, scope, body }) => removeTotp(services, scope, body),
  }),
];
