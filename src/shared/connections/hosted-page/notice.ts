import { html } from "./markup.ts";
import type { Branding } from "../schema.ts";
import { fill, wordsOf, type Language } from "./language.ts";
import { backLabel, layout, renderSteps } from "./layout.ts";
import { CHECK } from "./marks.ts";
import { plainName } from "./names.ts";
import type { Words } from "./words.ts";

export type NoticeName = keyof Words["notices"];

export interface Notice {
  readonly language: Language;
  readonly notice: NoticeName;
  /** Where the platform waits for the user; null: not known. */
  readonly back: string | null;
  readonly branding: Branding;
  /** By which the log knows what happened. */
  readonly requestId?: string;
}

/** A page with nothing to do on it but to go back. */
export function renderNotice(page: Notice, nonce: string): string {
  const { language, notice, back, branding, requestId = "" } = page;
  const words = wordsOf(language);
  const { title, text } = words.notices[notice];
  const body = html`${notice === "allSet" && renderSteps("done", language)}
    <div class="card plain">
      ${notice === "allSet" && html`<p class="seal">${CHECK}</p>`}
      <h1>${title}</h1>
      <p>${fill(text, { id: plainName(requestId) })}</p>
      ${
        back !== null &&
        html`<div class="actions">
          <a class="button" href="${back}" rel="noreferrer"
            ><span>${backLabel(branding, language, words.page.back)}</span></a
          >
        </div>`
      }
    </div>`;
  return layout({ language, nonce, branding, title, body });
}
