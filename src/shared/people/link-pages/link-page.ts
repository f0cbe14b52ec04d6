import { quotedPlatform } from "../../mail/mail.ts";
import {
  browserCookie,
  CHECK,
  layout,
  pageAnswer,
  readBrowserId,
  WARNING,
  type BrowserAnswer,
} from "../../connections/connections.ts";
import type { RequestScope } from "../../callers/scope.ts";
import { knownUser } from "../../limits/limits.ts";
import { AppError } from "../../runtime/errors.ts";
import { chooseLocale, fillText, type Locale } from "../../runtime/locale.ts";
import { html, type Markup } from "../../runtime/markup.ts";
import { randomToken } from "../../runtime/secrets.ts";
import type { Config } from "../../config/config.ts";
import type { PeopleDeps } from "../deps.ts";
import { followInvitation, joinPlatform } from "../invitations/accept-invitation.ts";
import { AcceptInvitationBody } from "../invitations/schema.ts";
import { followLink, type LinkDeps } from "../links/links.ts";
import { confirmReset } from "../staff/reset-password.ts";
import {
  ConfirmResetBody,
  KINDS_OF_PAGE,
  LINK_PAGES,
  type LinkPage,
  VerifyBody,
} from "../links/schema.ts";
import { findPastUse, type OneTimeLinkForm } from "../links/used-link.ts";
import { deviceCookie } from "../staff/device-cookie.ts";
import { issueDevice, type User } from "../staff/user.ts";
import { verifyEmail } from "../staff/verify-email.ts";
import de from "./words/de.json" with { type: "json" };
import type { PageWords } from "./page-words.ts";
import en from "./words/en.json" with { type: "json" };
import es from "./words/es.json" with { type: "json" };
import fr from "./words/fr.json" with { type: "json" };
import pt from "./words/pt.json" with { type: "json" };

export const PAGE_WORDS: Readonly<Record<Locale, PageWords>> = { en, de, fr, es, pt };

export interface LinkVisit {
  readonly scope: RequestScope;
  readonly headers: Headers;
  /** The last part of the address. */
  readonly kind: string;
  readonly fields: Readonly<Record<string, string>>;
}

export interface RenderedPage {
  readonly status: number;
  readonly title: string;
  readonly body: Markup;
  readonly hasProblem?: boolean;
}

const isLinkPage = (text: string): text is LinkPage => LINK_PAGES.some((page) => page === text);

/** Answers with a page in the style of the hosted page: no script, its own style, and no image. */
export function answerWith(config: Config, locale: Locale, page: RenderedPage): BrowserAnswer {
  const { name, supportUrl } = config.service;
  const branding = supportUrl === undefined ? { name } : { name, supportUrl };
  const { status, ...parts } = page;
  return pageAnswer(status, (nonce) => layout({ ...parts, language: locale, branding, nonce }));
}

export const problemPage = (status: number, title: string, text: string): RenderedPage => ({
  status,
  title,
  hasProblem: true,
  body: html`<div class="card">
    <h1>${title}</h1>
    <p>${text}</p>
  </div>`,
});

/** Renders the button to the page where people log in, or to the service's site, if there is one. */
function renderNext({ service, publicBaseUrl }: Config, words: PageWords): Markup | null {
  const { name, url, dashboardUrl } = service;
  const hasSite = url !== new URL(publicBaseUrl).origin;
  if (dashboardUrl === undefined && !hasSite) return null;
  const label = dashboardUrl === undefined ? fillText(words.site, { service: name }) : words.logIn;
  return html`<div class="actions">
    <a class="button" href="${dashboardUrl ?? url}" rel="noreferrer">${label}</a>
  </div>`;
}

export function donePage(
  config: Config,
  words: PageWords,
  { title, text }: { readonly title: string; readonly text: string },
): RenderedPage {
  const body = html`<div class="card">
    <p class="seal">${CHECK}</p>
    <h1>${title}</h1>
    <p>${text}</p>
    ${renderNext(config, words) ?? html`<p class="soft">${words.close}</p>`}
  </div>`;
  return { status: 200, title, body };
}

/** Values for the texts of a page. `email` is the address that the account has once the link was used. */
interface PageValues extends Readonly<Record<string, string>> {
  readonly email: string;
}

/** Finds what a link leads to, without using it up. Returns the names for the page's texts. @throws AppError */
async function followOneTimeLink(
  deps: LinkDeps,
  { token = "" }: LinkVisit["fields"],
  { kind, locale }: { readonly kind: LinkPage; readonly locale: Locale },
): Promise<PageValues> {
  if (kind !== "invitation") {
    const { user, link } = await followLink(deps, KINDS_OF_PAGE[kind], token);
    // A mistyped new address may be a stranger's, who must not learn the present one.
    return { email: kind === "email" ? link.newEmail : user.email };
  }
  const { invitation, platform, inviter } = await followInvitation(deps, token);
  const service = deps.config.service.name;
  const named = { platform: quotedPlatform(locale, platform.name), inviter: inviter.email };
  return { email: invitation.email, ...named, service };
}

/** Contents of a form: the texts with their values, and what is wrong with what was sent. */
interface FormParts {
  readonly kind: LinkPage;
  readonly words: PageWords;
  readonly named: PageValues;
  readonly problem: string | null;
}

function formPage(visit: LinkVisit, { kind, words, named, problem }: FormParts): RenderedPage {
  const { title, intro, label, hint, button } = words.kinds[kind];
  const described = [problem === null ? "" : "problem", hint === "" ? "" : "hint"].join(" ").trim();
  const isNew = kind === "reset" || kind === "invitation";
  return {
    status: problem === null ? 200 : 422,
    title,
    hasProblem: problem !== null,
    body: html`<div class="card">
      <h1>${title}</h1>
      <p class="soft">${fillText(intro, named)}</p>
      <form method="post" action="${kind}" class="end">
        <input type="hidden" name="token" value="${visit.fields["token"] ?? ""}" />
        <div class="field">
          <label for="username">${words.email}</label>
          <input
            type="email"
            id="username"
            name="username"
            value="${named.email}"
            autocomplete="username"
            readonly
          />
        </div>
        <div class="field">
          <label for="password">${label}</label>
          ${hint !== "" && html`<span class="hint" id="hint">${hint}</span>`}
          ${problem !== null && html`<p class="error" id="problem" role="alert">${WARNING}<span>${problem}</span></p>`}
          <input
            type="password"
            id="password"
            name="password"
            required
            autocomplete="${isNew ? "new-password" : "current-password"}"
            ${described !== "" && html`aria-describedby="${described}"`}
            ${problem !== null && html`aria-invalid="true" autofocus`}
          />
        </div>
        <button>${button}</button>
      </form>
    </div>`,
  };
}

function done(config: Config, kind: LinkPage, words: PageWords): RenderedPage {
  const { doneTitle: title, done: text } = words.kinds[kind];
  return donePage(config, words, { title, text });
}

/** Returns what is wrong with the typed text, or undefined when something else was refused. */
function typedProblem(words: PageWords, { code }: AppError): string | undefined {
  if (code === "invalid_credentials") return words.wrongPassword;
  return code === "validation_failed" ? words.badNewPassword : undefined;
}

/** Returns the page for a refused step, when the form is of no use any more. */
function refusedPage(kind: LinkPage, words: PageWords, { code }: AppError): RenderedPage {
  switch (code) {
    case "invalid_link":
      return problemPage(400, words.invalidTitle, words.invalid);
    case "conflict":
      return problemPage(
        409,
        words.failedTitle,
        kind === "invitation" ? words.hasAccount : words.taken,
      );
    case "platform_suspended":
    case "platform_closed":
      return problemPage(403, words.failedTitle, words.suspended);
    case "rate_limited":
      return problemPage(429, words.tooManyTitle, words.tooMany);
    default:
      return problemPage(503, words.failedTitle, words.failed);
  }
}

type AnswerHeaders = BrowserAnswer["headers"];

/** Returns the header that makes the browser a known device of the user. */
const deviceHeaders = async (
  { config, secrets }: PeopleDeps,
  user: User,
): Promise<AnswerHeaders> => [
  deviceCookie(config, user.email, await issueDevice(secrets.devices, user)),
];

/** Uses the link. Returns the headers of the answer. */
async function use(
  deps: PeopleDeps,
  visit: LinkVisit,
  { kind, form }: { readonly kind: LinkPage; readonly form: OneTimeLinkForm | undefined },
): Promise<AnswerHeaders> {
  const { scope, fields } = visit;
  const { token = "", password = "" } = fields;
  const formed = form === undefined ? {} : { form };
  const checked = <Data>({ data }: { readonly data?: Data | undefined }): Data => {
    if (data === undefined) throw new AppError("validation_failed", "The form is incomplete.");
    return data;
  };
  if (kind === "invitation") {
    const body = checked(AcceptInvitationBody().safeParse({ token, password }));
    const { user } = await joinPlatform(deps, scope, { ...body, ...formed });
    return await deviceHeaders(deps, user);
  }
  if (kind === "reset") {
    const body = checked(ConfirmResetBody().safeParse({ token, newPassword: password }));
    const { email, deviceToken } = await confirmReset(deps, scope, { ...body, ...formed });
    return [deviceCookie(deps.config, email, deviceToken)];
  }
  const body = checked(VerifyBody().safeParse({ token, password }));
  await verifyEmail(deps, scope, { ...body, headers: new Headers(), ...formed });
  return [];
}

/**
 * Returns the answer for a link that was used already: to the browser that used it, that it worked; of an invitation, that
 * it was accepted. A repeated form has to have the password that was set, because another one was not.
 */
async function past(
  deps: PeopleDeps,
  visit: LinkVisit,
  { kind, words }: LinkPageStep,
): Promise<{ readonly page: RenderedPage; readonly headers: AnswerHeaders } | undefined> {
  const { token = "", password } = visit.fields;
  const browserId = readBrowserId(deps.config, { cookie: visit.headers.get("cookie") });
  const pastUse = await findPastUse(deps, kind, { token, browserId });
  if (pastUse === undefined) return undefined;
  const { user, isRepeat } = pastUse;
  const setsPassword = kind === "reset" || kind === "invitation";
  const isSame =
    isRepeat &&
    (!setsPassword ||
      password === undefined ||
      (await deps.secrets.passwords.inTurn(knownUser(user.platformId, user.id), (hashing) =>
        hashing.matches(password, user.passwordHash),
      )));
  if (isSame) {
    const isForm = setsPassword && password !== undefined;
    return {
      page: done(deps.config, kind, words),
      headers: isForm ? await deviceHeaders(deps, user) : [],
    };
  }
  if (kind !== "invitation") return undefined;
  const { dashboardUrl } = deps.config.service;
  const page = problemPage(400, words.acceptedTitle, words.accepted);
  if (dashboardUrl === undefined) return { page, headers: [] };
  const body = html`<div class="card">
    <h1>${words.acceptedTitle}</h1>
    <p>${words.accepted} ${words.forgotten}</p>
    ${renderNext(deps.config, words)}
  </div>`;
  return { page: { ...page, body }, headers: [] };
}

interface LinkPageStep {
  readonly kind: LinkPage;
  readonly locale: Locale;
  readonly words: PageWords;
}

/** Says when a later try may succeed. */
function answerWithWait(
  answer: BrowserAnswer,
  { retryAfterSeconds = 1 }: Pick<AppError, "retryAfterSeconds">,
): BrowserAnswer {
  if (answer.status !== 429 && answer.status !== 503) return answer;
  return { ...answer, headers: [...answer.headers, ["retry-after", String(retryAfterSeconds)]] };
}

async function linkPageOf(
  config: Config,
  visit: LinkVisit,
  step: (
    of: LinkPageStep,
  ) => Promise<RenderedPage | { readonly page: RenderedPage; readonly headers: AnswerHeaders }>,
): Promise<BrowserAnswer> {
  const locale = chooseLocale(visit.headers.get("accept-language"));
  const words = PAGE_WORDS[locale];
  const { kind } = visit;
  const answer = (page: RenderedPage) => answerWith(config, locale, page);
  if (!isLinkPage(kind)) return answer(problemPage(400, words.invalidTitle, words.invalid));
  try {
    const stepped = await step({ kind, locale, words });
    if (!("page" in stepped)) return answer(stepped);
    const made = answer(stepped.page);
    return { ...made, headers: [...made.headers, ...stepped.headers] };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { ...answerWithWait(answer(refusedPage(kind, words, error)), error), refusal: error };
  }
}

const isInvalidLink = (error: unknown) =>
  error instanceof AppError && error.code === "invalid_link";

/**
 * Shows the page of a link, without using it up, because mail scanners follow links. The browser gets a cookie by which
 * its form is known again, even if the first answer to the form never reaches it.
 */
export function showLink(deps: PeopleDeps, visit: LinkVisit): Promise<BrowserAnswer> {
  const { config } = deps;
  const { token = "" } = visit.fields;
  return linkPageOf(config, visit, async (of) => {
    try {
      const named = await followOneTimeLink(deps, visit.fields, of);
      const page = formPage(visit, { ...of, named, problem: null });
      const known = readBrowserId(config, { cookie: visit.headers.get("cookie") });
      return { page, headers: known === undefined ? [browserCookie(config, randomToken())] : [] };
    } catch (error) {
      const shown = { ...visit, fields: { token } };
      const answer = isInvalidLink(error) ? await past(deps, shown, of) : undefined;
      if (answer === undefined) throw error;
      return answer;
    }
  });
}

/** Uses a link with the form of its page. A repeat by the same browser within ten minutes is answered as done. */
export function useLink(deps: PeopleDeps, visit: LinkVisit): Promise<BrowserAnswer> {
  return linkPageOf(deps.config, visit, async (of) => {
    const { kind, words } = of;
    const { token = "" } = visit.fields;
    const browserId = readBrowserId(deps.config, { cookie: visit.headers.get("cookie") });
    try {
      const used = { kind, form: browserId === undefined ? undefined : { token, browserId } };
      return {
        headers: await use(deps, visit, used),
        page: done(deps.config, kind, words),
      };
    } catch (error) {
      const answer = isInvalidLink(error) ? await past(deps, visit, of) : undefined;
      if (answer !== undefined) return answer;
      const problem = error instanceof AppError ? typedProblem(of.words, error) : undefined;
      if (problem === undefined) throw error;
      return formPage(visit, {
        ...of,
        named: await followOneTimeLink(deps, visit.fields, of),
        problem,
      });
    }
  });
}

/** Shows why a request was refused before its step ran. */
export function refuseLink(
  config: Config,
  headers: Headers,
  error: Pick<AppError, "code" | "retryAfterSeconds"> & { readonly status: number },
): BrowserAnswer {
  const { code, status } = error;
  const locale = chooseLocale(headers.get("accept-language"));
  const words = PAGE_WORDS[locale];
  const page =
    code === "rate_limited"
      ? problemPage(429, words.tooManyTitle, words.tooMany)
      : status >= 500
        ? problemPage(status, words.failedTitle, words.failed)
        : problemPage(status, words.invalidTitle, words.invalid);
  return answerWithWait(answerWith(config, locale, page), error);
}
