import { CHECK, layout, pageAnswer, type BrowserAnswer } from "../../connections/connections.ts";
import type { RequestScope } from "../../callers/scope.ts";
import { AppError } from "../../runtime/errors.ts";
import { chooseLocale, type Locale } from "../../runtime/locale.ts";
import { html, type Markup } from "../../runtime/markup.ts";
import type { TenantsDeps } from "../deps.ts";
import { followLink } from "../links/links.ts";
import { confirmReset } from "../staff/reset-password.ts";
import {
  ConfirmResetBody,
  LINK_PAGES,
  type LinkKind,
  type LinkPage,
  VerifyBody,
} from "../links/schema.ts";
import { verifyEmail } from "../staff/verify-email.ts";
import { de } from "./words/de.ts";
import { en, type PageWords } from "./words/en.ts";
import { es } from "./words/es.ts";
import { fr } from "./words/fr.ts";
import { pt } from "./words/pt.ts";

const WORDS: Readonly<Record<Locale, PageWords>> = { en, de, fr, es, pt };

/** A browser's request for the page of a link. */
export interface LinkVisit {
  readonly scope: RequestScope;
  readonly headers: Headers;
  /** The last part of the address. */
  readonly kind: string;
  readonly fields: Readonly<Record<string, string>>;
}

interface Page {
  readonly status: number;
  readonly title: string;
  readonly body: Markup;
  readonly hasProblem?: boolean;
}

const isLinkPage = (text: string): text is LinkPage => LINK_PAGES.some((page) => page === text);

/** The kinds of links that a page takes. */
const KINDS: Readonly<Record<LinkPage, readonly LinkKind[]>> = {
  verify: ["verify"],
  reset: ["reset", "operator_reset"],
  email: ["email"],
};

/** Answers with a page in the style of the hosted page: no script, its own style, and no picture. */
function answerWith(services: TenantsDeps, locale: Locale, page: Page): BrowserAnswer {
  const { name, supportUrl } = services.config.service;
  const branding = supportUrl === undefined ? { name } : { name, supportUrl };
  const { status, ...parts } = page;
  return pageAnswer(status, (nonce) => layout({ ...parts, language: locale, branding, nonce }));
}

const notice = (status: number, title: string, text: string): Page => ({
  status,
  title,
  hasProblem: true,
  body: html`<div class="card">
    <h1>${title}</h1>
    <p>${text}</p>
  </div>`,
});

function form(visit: LinkVisit, kind: LinkPage, words: PageWords, problem: string | null): Page {
  const { title, intro, label, hint, button } = words.kinds[kind];
  const described = [problem === null ? "" : "problem", hint === "" ? "" : "hint"].join(" ").trim();
  const isNew = kind === "reset";
  return {
    status: problem === null ? 200 : 422,
    title,
    hasProblem: problem !== null,
    body: html`<div class="card">
      <h1>${title}</h1>
      <p class="soft">${intro}</p>
      <form method="post" action="${kind}" class="end">
        <input type="hidden" name="token" value="${visit.fields["token"] ?? ""}" />
        <div class="field">
          <label for="password"
            >${label}${hint !== "" && html`<span class="hint" id="hint">${hint}</span>`}</label
          >
          ${problem !== null && html`<p class="error" id="problem" role="alert">${problem}</p>`}
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

function done(kind: LinkPage, words: PageWords): Page {
  const { doneTitle: title, done: text } = words.kinds[kind];
  const body = html`<div class="card">
    <p class="seal">${CHECK}</p>
    <h1>${title}</h1>
    <p>${text}</p>
  </div>`;
  return { status: 200, title, body };
}

/** Returns the page for what a step was refused with; undefined for what is no answer to a reader. */
function refused(visit: LinkVisit, kind: LinkPage, words: PageWords, error: AppError): Page {
  switch (error.code) {
    case "invalid_link":
      return notice(400, words.invalidTitle, words.invalid);
    case "conflict":
      return notice(409, words.failedTitle, words.taken);
    case "invalid_credentials":
      return form(visit, kind, words, words.wrongPassword);
    case "validation_failed":
      return form(visit, kind, words, words.badNewPassword);
    case "rate_limited":
      return notice(429, words.tooManyTitle, words.tooMany);
    default:
      return notice(503, words.failedTitle, words.failed);
  }
}

async function use(services: TenantsDeps, visit: LinkVisit, kind: LinkPage): Promise<void> {
  const { scope, fields } = visit;
  const { token = "", password = "" } = fields;
  const invalid = () => new AppError("validation_failed", "The form is incomplete.");
  if (kind !== "reset") {
    const body = VerifyBody().safeParse({ token, password });
    if (!body.success) throw invalid();
    return await verifyEmail(services, scope, { ...body.data, headers: new Headers() });
  }
  const body = ConfirmResetBody().safeParse({ token, newPassword: password });
  if (!body.success) throw invalid();
  await confirmReset(services, scope, body.data);
}

/** Says when a later try may succeed. */
function withWait(
  answer: BrowserAnswer,
  { retryAfterSeconds = 1 }: Pick<AppError, "retryAfterSeconds">,
): BrowserAnswer {
  if (answer.status !== 429 && answer.status !== 503) return answer;
  return { ...answer, headers: [...answer.headers, ["retry-after", String(retryAfterSeconds)]] };
}

async function pageOf(
  services: TenantsDeps,
  visit: LinkVisit,
  step: (kind: LinkPage, words: PageWords) => Promise<Page>,
): Promise<BrowserAnswer> {
  const locale = chooseLocale(visit.headers.get("accept-language"));
  const words = WORDS[locale];
  const { kind } = visit;
  const answer = (page: Page) => answerWith(services, locale, page);
  if (!isLinkPage(kind)) return answer(notice(400, words.invalidTitle, words.invalid));
  try {
    return answer(await step(kind, words));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return withWait(answer(refused(visit, kind, words, error)), error);
  }
}

/** Shows the page of a link. Uses nothing up: mail scanners follow links. */
export function showLink(services: TenantsDeps, visit: LinkVisit): Promise<BrowserAnswer> {
  return pageOf(services, visit, async (kind, words) => {
    await followLink(services, KINDS[kind], visit.fields["token"] ?? "");
    return form(visit, kind, words, null);
  });
}

/** Uses a link by the form of its page. */
export function useLink(services: TenantsDeps, visit: LinkVisit): Promise<BrowserAnswer> {
  return pageOf(services, visit, async (kind, words) => {
    await use(services, visit, kind);
    return done(kind, words);
  });
}

/** Shows what a request was refused with before its step ran. */
export function refuseLink(
  services: TenantsDeps,
  headers: Headers,
  error: Pick<AppError, "code" | "retryAfterSeconds"> & { readonly status: number },
): BrowserAnswer {
  const { code, status } = error;
  const locale = chooseLocale(headers.get("accept-language"));
  const words = WORDS[locale];
  const page =
    code === "rate_limited"
      ? notice(429, words.tooManyTitle, words.tooMany)
      : status >= 500
        ? notice(status, words.failedTitle, words.failed)
        : notice(status, words.invalidTitle, words.invalid);
  return withWait(answerWith(services, locale, page), error);
}
