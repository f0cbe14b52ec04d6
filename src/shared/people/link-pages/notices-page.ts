import { AppError } from "../../runtime/errors.ts";
import { html } from "../../runtime/markup.ts";
import type { BrowserAnswer } from "../../connections/connections.ts";
import type { RequestScope } from "../../callers/scope.ts";
import { chooseLocale } from "../../runtime/locale.ts";
import type { Config } from "../../config/config.ts";
import type { PeopleDeps } from "../deps.ts";
import { followOffLink, switchOffByLink } from "../notices/notice-settings.ts";
import { answerWith, donePage, PAGE_WORDS, problemPage, type RenderedPage } from "./link-page.ts";
import type { PageWords } from "./page-words.ts";

/** A browser's or a mail program's request with the link that switches a notice off. */
interface OffVisit {
  readonly scope: RequestScope;
  readonly headers: Headers;
  readonly token: string;
}

async function noticesPageOf(
  config: Config,
  { headers }: OffVisit,
  step: (words: PageWords) => Promise<RenderedPage>,
): Promise<BrowserAnswer> {
  const locale = chooseLocale(headers.get("accept-language"));
  const words = PAGE_WORDS[locale];
  try {
    return answerWith(config, locale, await step(words));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const page =
      error.code === "invalid_link"
        ? problemPage(400, words.invalidTitle, words.notices.invalid)
        : problemPage(503, words.failedTitle, words.failed);
    return { ...answerWith(config, locale, page), refusal: error };
  }
}

/** Shows the page that switches a notice off. Changes nothing, because mail scanners follow links. */
export function showNoticesPage(deps: PeopleDeps, visit: OffVisit): Promise<BrowserAnswer> {
  return noticesPageOf(deps.config, visit, async ({ notices }) => {
    const { notice } = await followOffLink(deps, visit.token);
    const body = html`<div class="card">
      <h1>${notices.title}</h1>
      <p class="strong">${notices.kinds[notice]}</p>
      <p class="soft">${notices.intro}</p>
      <form method="post" action="off?token=${encodeURIComponent(visit.token)}" class="end">
        <button>${notices.button}</button>
      </form>
    </div>`;
    return { status: 200, title: notices.title, body };
  });
}

/** Switches a notice off, by the page's form or by the button of a mail program (RFC 8058). */
export function switchOffByPage(deps: PeopleDeps, visit: OffVisit): Promise<BrowserAnswer> {
  return noticesPageOf(deps.config, visit, async (words) => {
    await switchOffByLink(deps, visit.scope, visit.token);
    const { doneTitle: title, done: text } = words.notices;
    return donePage(deps.config, words, { title, text });
  });
}
