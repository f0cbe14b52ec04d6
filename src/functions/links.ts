import * as z from "zod";
import { anySession, openingLink, sessionOnly, signingIn } from "../shared/http/access/access.ts";
import { route, type RefusedCall } from "../shared/http/route.ts";
import { shape } from "../shared/runtime/shape.ts";
import type { AppError } from "../shared/runtime/errors.ts";
import {
  AskForResetBody,
  ConfirmResetBody,
  knownDevice,
  LinkFields,
  linkFields,
  offFields,
  tokenExample,
  VerifyBody,
} from "../shared/people/links/schema.ts";
import { ChangeEmailBody, signInExample } from "../shared/people/staff/schema.ts";
import {
  askForEmailChange,
  askForReset,
  confirmReset,
  resendVerification,
  verifyEmail,
} from "../shared/people/people.ts";

const loadPage = async () => (await import("./link-page.ts")).linkPage;

/** Answers a refused request of a browser with a page, too. */
const refusedLinkPage = async (error: AppError, call: RefusedCall) =>
  (await loadPage()).refuse(error, call);

/** Has no fields, so that it is the same for every email. */
const accepted = shape(() => z.strictObject({}));

const PAGE_ANSWERS = {
  400: "The link doesn't work, or the URL is damaged.",
  403: "The platform is suspended or closed.",
  429: "Too many attempts.",
  500: "An error on our side. It was logged.",
  503: "Not possible right now.",
};

/** Links that people get by mail, and their pages. */
export const linkRoutes = [
  route("POST", "v1/auth/verify", {
    operationId: "verifyEmail",
    summary: "Verify an email address",
    description:
      "Verifies an email address, or completes its change, with the link that was sent to it. Requires the session or the password of the user that the link is for. The link proves who owns the mailbox. The session or the password proves that it's the person who signed up. Using the link again within its 7 days returns 204 again.",
    access: signingIn,
    body: VerifyBody,
    status: 204,
    errors: ["invalid_link", "invalid_credentials", "conflict"],
    examples: () => ({ body: { token: tokenExample, password: "a password of some length" } }),
    run: ({ services, scope, body, headers }) =>
      verifyEmail(services.people, scope, { ...body, headers }),
  }),
  route("POST", "v1/auth/verify/resend", {
    operationId: "resendVerification",
    summary: "Resend the verification email",
    description:
      "Sends the link that verifies the session's user again. The previous link ends. An address gets at most three of these emails an hour and ten a day. Further requests get the same response and send nothing.",
    access: anySession,
    status: 202,
    response: accepted,
    errors: ["invalid_state", "mail_disabled"],
    examples: () => ({ answer: {} }),
    run: async ({ services, scope }) => {
      await resendVerification(services.people, scope);
      return {};
    },
  }),
  route("POST", "v1/auth/reset", {
    operationId: "askForReset",
    summary: "Request a password reset",
    description:
      "Sends a link that sets a new password. The response doesn't depend on whether the email address is known: an email is sent only if it belongs to a user. The link works once, for 60 minutes. An address gets at most three of these emails an hour.",
    access: signingIn,
    body: AskForResetBody,
    status: 202,
    response: accepted,
    errors: ["mail_disabled"],
    examples: () => ({ body: { email: "owner@example.com" }, answer: {} }),
    run: async ({ services, scope, body, headers }) => {
      await askForReset(services.people, scope, { ...body, cookie: headers.get("cookie") });
      return {};
    },
  }),
  route("POST", "v1/auth/reset/confirm", {
    operationId: "confirmReset",
    summary: "Set a new password with a reset link",
    description:
      "Ends every session and every other link of the user, and verifies the email address. Earlier failed logins and wrong codes no longer count. Two-factor authentication stays on.",
    access: signingIn,
    body: ConfirmResetBody,
    response: knownDevice,
    errors: ["invalid_link"],
    examples: () => ({
      body: { token: tokenExample, newPassword: "another and longer password" },
      answer: { deviceToken: signInExample().deviceToken },
    }),
    run: async ({ services, scope, body }) => {
      const { deviceToken } = await confirmReset(services.people, scope, body);
      return { deviceToken };
    },
  }),
  route("POST", "v1/auth/email", {
    operationId: "changeEmail",
    summary: "Change the email address",
    description:
      "Sends a link to the new address. The change takes effect when the link is used with the session or the password of the user (`POST /v1/auth/verify`). If another user has the address by then, the response is 409 `conflict`. The previous address gets an email about the request and about the change. With TOTP on, `totpCode` is required.",
    access: sessionOnly,
    body: ChangeEmailBody,
    status: 202,
    response: accepted,
    errors: ["mail_disabled", "totp_required", "rate_limited"],
    examples: () => ({
      body: { newEmail: "new@example.com", password: "a password of some length" },
      answer: {},
    }),
    run: async ({ services, scope, body }) => {
      await askForEmailChange(services.people, scope, body);
      return {};
    },
  }),
  route("GET", "v1/auth/notices/off", {
    operationId: "showNoticesPage",
    summary: "The page behind the link in a notice, which turns off such emails",
    calledBy: "browsers",
    description: "Opening the page changes nothing. Its form does.",
    access: openingLink,
    query: LinkFields,
    browserFields: offFields,
    refused: refusedLinkPage,
    produces: "page",
    answers: { 200: "The page.", ...PAGE_ANSWERS },
    run: async (call) => (await loadPage()).showNotices(call, call.query),
  }),
  route("POST", "v1/auth/notices/off", {
    operationId: "switchNoticeOff",
    summary: "Turns off the notice of the link, for the whole platform",
    calledBy: "browsers and mail programs",
    description:
      "Used by the page's form and the unsubscribe button of mail clients (`List-Unsubscribe-Post`, RFC 8058). It works as long as the recipient is an owner.",
    access: openingLink,
    query: LinkFields,
    browserFields: offFields,
    refused: refusedLinkPage,
    produces: "page",
    answers: { 200: "Turned off.", ...PAGE_ANSWERS },
    run: async (call) => (await loadPage()).switchNotices(call, call.query),
  }),
  route("GET", "v1/auth/ui/{kind}", {
    operationId: "showLinkPage",
    summary: "The page behind a one-time link",
    calledBy: "browsers",
    description:
      "`kind` is `verify`, `email`, `reset` or `invitation`. Opening the page doesn't use up the link, because mail scanners follow links. The page's form does.",
    access: openingLink,
    query: LinkFields,
    browserFields: linkFields,
    refused: refusedLinkPage,
    produces: "page",
    answers: { 200: "The page.", ...PAGE_ANSWERS },
    run: async (call) => (await loadPage()).show(call, call.query),
  }),
  route("POST", "v1/auth/ui/{kind}", {
    operationId: "submitLinkPage",
    summary: "The form of that page, which uses the link",
    calledBy: "browsers",
    description:
      "A repeat by the same browser within ten minutes, such as a double click or a reload, gets the same page again. The browser is then a known device of the user: a cookie holds the `deviceToken`.",
    access: signingIn,
    body: LinkFields,
    bodyKind: "form",
    browserFields: linkFields,
    refused: refusedLinkPage,
    produces: "page",
    answers: {
      200: "Done.",
      ...PAGE_ANSWERS,
      409: "Another user has this address.",
      413: "The form is too long.",
      415: "The body isn't a form.",
      422: "The page again, with the errors.",
    },
    run: async (call) => (await loadPage()).use(call, call.body),
  }),
];
