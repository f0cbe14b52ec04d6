import { anySession, sessionOnly, signingIn } from "../shared/http/access/access.ts";
import { confirmed, ofOwner } from "../shared/http/access/narrowed-access.ts";
import { route } from "../shared/http/route.ts";
import {
  confirmSession,
  createUser,
  deleteUser,
  listUsers,
  updateUser,
  changePassword,
  confirmTotp,
  removeTotp,
  startTotp,
  logIn,
  logOut,
  signUp,
} from "../shared/people/people.ts";
import {
  ChangePasswordBody,
  changePasswordExample,
  confirmedSession,
  confirmedSessionExample,
  ConfirmSessionBody,
  ConfirmTotpBody,
  CreateUserBody,
  createUserExample,
  ListUsersQuery,
  LogInBody,
  logInExample,
  LogOutBody,
  recoveryCodes,
  recoveryCodesExample,
  RemoveTotpBody,
  removeTotpExample,
  signInExample,
  signedIn,
  SignUpBody,
  signUpExample,
  totpSecret,
  totpSecretExample,
  UpdateUserBody,
  user,
  userExample,
} from "../shared/people/staff/schema.ts";
import { knownDevice } from "../shared/people/links/schema.ts";
import { withLocale } from "./with-locale.ts";

export const authRoutes = [
  route("POST", "v1/auth/signup", {
    operationId: "signUp",
    summary: "Sign up",
    description:
      "Creates a platform with its first user, and logs the user in. When sign-up is closed, the operators create platforms.",
    access: signingIn,
    body: SignUpBody,
    status: 201,
    response: signedIn,
    errors: ["signup_disabled", "conflict"],
    examples: () => ({ body: signUpExample(), answer: signInExample() }),
    run: ({ services, scope, body, headers }) =>
      signUp(services.people, scope, withLocale(body, headers)),
  }),
  route("POST", "v1/auth/login", {
    operationId: "logIn",
    summary: "Log in",
    description:
      "Starts a dashboard session. With TOTP on, a login without `totpCode` gets 401 `totp_required`. A recovery code can be used instead, once. A wrong email address and a wrong password get the same response. After five failures from a network within 15 minutes, or a hundred in total within an hour, further logins with the email address get 429. Attempts with a `deviceToken` from an earlier login are counted separately, and so are those of a browser in which the page of a reset link or invitation was used: the page leaves the token as a cookie. Ten wrong codes are allowed per hour, until the next reset.",
    access: signingIn,
    body: LogInBody,
    response: signedIn,
    errors: ["invalid_credentials", "totp_required", "platform_suspended", "platform_closed"],
    examples: () => ({ body: logInExample(), answer: signInExample() }),
    run: ({ services, scope, body, headers }) =>
      logIn(services.people, scope, { ...body, cookie: headers.get("cookie") }),
  }),
  route("POST", "v1/auth/logout", {
    operationId: "logOut",
    summary: "Log out",
    description:
      "Ends all sessions of the user, or only this one. Without a body, all sessions end. The tokens of one session, including those from `POST /v1/auth/confirm`, end together.",
    access: anySession,
    body: LogOutBody,
    status: 204,
    examples: () => ({ body: { everywhere: false } }),
    run: ({ services, scope, body }) => logOut(services.people, scope, body),
  }),
  route("POST", "v1/auth/confirm", {
    operationId: "confirmSession",
    summary: "Confirm a session with the password",
    description:
      "Some actions need a recent confirmation, so that a stolen session can't perform them. A confirmation lasts for ten minutes, and a login counts as one. It is required to set up a second factor, to change staff, to create an API key in a session, to rotate a webhook secret, and to close the platform. Without it, these requests get 403 `confirmation_required`. The token in the response belongs to the same session and ends with it. Failures count only in this session, or with the `deviceToken`: five within 15 minutes.",
    access: sessionOnly,
    body: ConfirmSessionBody,
    response: confirmedSession,
    errors: ["invalid_credentials", "totp_required", "rate_limited"],
    examples: () => ({
      body: { password: logInExample().password, totpCode: "492039" },
      answer: confirmedSessionExample(),
    }),
    run: ({ services, scope, body, headers }) =>
      confirmSession(services.people, scope, { ...body, cookie: headers.get("cookie") }),
  }),
  route("POST", "v1/auth/password", {
    operationId: "changePassword",
    summary: "Change the password",
    description:
      "Ends every other session of the user. All device tokens end; the response has a new one for this device. Failures count only in this session: five within 15 minutes.",
    access: sessionOnly,
    body: ChangePasswordBody,
    response: knownDevice,
    errors: ["invalid_credentials", "rate_limited"],
    examples: () => ({
      body: changePasswordExample(),
      answer: { deviceToken: signInExample().deviceToken },
    }),
    run: ({ services, scope, body }) => changePassword(services.people, scope, body),
  }),
  route("POST", "v1/auth/totp", {
    operationId: "startTotp",
    summary: "Start setting up TOTP",
    description:
      "Returns a secret for an authenticator app. Logins need no code until the first one is confirmed, within half an hour. Another call before then replaces the secret.",
    access: confirmed(sessionOnly),
    status: 201,
    response: totpSecret,
    errors: ["invalid_state"],
    examples: () => ({ answer: totpSecretExample() }),
    run: ({ services, scope }) => startTotp(services.people, scope),
  }),
  route("POST", "v1/auth/totp/confirm", {
    operationId: "confirmTotp",
    summary: "Turn on TOTP",
    description:
      "Requires the app's first code. Returns ten recovery codes, which are never returned again. Each can be used once instead of a code. Open sessions stay valid; `POST /v1/auth/logout` ends them.",
    access: sessionOnly,
    body: ConfirmTotpBody,
    response: recoveryCodes,
    errors: ["invalid_state", "invalid_credentials", "rate_limited"],
    examples: () => ({ body: { code: "492039" }, answer: recoveryCodesExample() }),
    run: ({ services, scope, body }) => confirmTotp(services.people, scope, body),
  }),
  route("DELETE", "v1/auth/totp", {
    operationId: "removeTotp",
    summary: "Turn off TOTP",
    description:
      "Also deletes the recovery codes. `code` is a code from the app or a recovery code.",
    access: sessionOnly,
    body: RemoveTotpBody,
    status: 204,
    errors: ["invalid_state", "invalid_credentials", "rate_limited"],
    examples: () => ({ body: removeTotpExample() }),
    run: ({ services, scope, body }) => removeTotp(services.people, scope, body),
  }),
  route("POST", "v1/auth/totp/remove", {
    operationId: "removeTotpByPost",
    summary: "Turn off TOTP with a POST",
    description:
      "Does the same as `DELETE /v1/auth/totp`, for clients and gateways that drop the body of a DELETE.",
    access: sessionOnly,
    body: RemoveTotpBody,
    status: 204,
    errors: ["invalid_state", "invalid_credentials", "rate_limited"],
    examples: () => ({ body: removeTotpExample() }),
    run: ({ services, scope, body }) => removeTotp(services.people, scope, body),
  }),
];

export const userRoutes = [
  route("GET", "v1/users", {
    operationId: "listUsers",
    summary: "List staff",
    description: "Newest first.",
    access: sessionOnly,
    query: ListUsersQuery,
    list: true,
    response: user,
    examples: () => ({ answer: userExample() }),
    run: ({ services, scope, query }) => listUsers(services.people, scope, query),
  }),
  route("POST", "v1/users", {
    operationId: "createUser",
    summary: "Add a colleague",
    description:
      "The colleague can log in immediately. Give the password to the colleague, who can change it with `POST /v1/auth/password`. This requires `ALLOW_DIRECT_USERS`, which is on by default if the relay sends no email. Otherwise, invite the colleague.",
    access: confirmed(ofOwner(sessionOnly)),
    body: CreateUserBody,
    status: 201,
    response: user,
    errors: ["invitation_required", "conflict"],
    examples: () => ({
      body: createUserExample(),
      answer: {
        ...userExample(),
        email: createUserExample().email,
        role: "member" as const,
        lastLoginAt: null,
      },
    }),
    run: ({ services, scope, body, headers }) =>
      createUser(services.people, scope, withLocale(body, headers)),
  }),
  route("PATCH", "v1/users/{userId}", {
    operationId: "updateUser",
    summary: "Change a user's role or language",
    description:
      "Changes the role of a colleague or yourself, or your own language. Changing a role requires an owner and a recent confirmation. A platform always keeps at least one owner. `locale` can only be changed for yourself.",
    access: sessionOnly,
    body: UpdateUserBody,
    response: user,
    errors: ["owner_required", "confirmation_required", "not_found", "invalid_state"],
    examples: () => ({ body: { role: "owner" as const }, answer: userExample() }),
    run: ({ services, scope, params, body }) =>
      updateUser(services.people, scope, { ...params, ...body }),
  }),
  route("DELETE", "v1/users/{userId}", {
    operationId: "deleteUser",
    summary: "Remove a user",
    description:
      "Removes a colleague or yourself, but never the last owner. A member can only remove themselves. The user's sessions and profile grants end immediately.",
    access: confirmed(sessionOnly),
    status: 204,
    errors: ["owner_required", "not_found", "invalid_state"],
    run: ({ services, scope, params }) => deleteUser(services.people, scope, params.userId),
  }),
];
