import { html, initialOf, isolatedName, plainName, type Markup } from "./markup.ts";
import type { LinkProblem } from "./link-problem.ts";
import type { Branding } from "../schema.ts";
import { fill, fillText, languageWords, type Language } from "./language.ts";
import { ACCENT, filledWith, stylesheet } from "./stylesheet.ts";
import type { Words } from "./words.ts";

export interface Layout {
  readonly language: Language;
  readonly nonce: string;
  readonly branding: Branding;
  readonly title: string;
  /** Whether the window's title mentions a problem. Screen readers read the title first. */
  readonly hasProblem?: boolean;
  readonly body: Markup;
}

/** Renders a whole document. Nothing in it needs a script. */
export function layout(page: Layout): string {
  const { language, nonce, branding, title, body } = page;
  const words = languageWords(language);
  const brand = branding.name === undefined ? "" : ` · ${plainName(branding.name)}`;
  const heading = page.hasProblem === true ? fillText(words.problem.title, { title }) : title;
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="referrer" content="no-referrer" />
        <title>${heading}${brand}</title>
        <link rel="icon" href="${branding.faviconUrl ?? ownIcon(branding)}" />
        <style nonce="${nonce}">
          ${stylesheet(branding.accentColor, branding.theme)}
        </style>
      </head>
      <body>
        <a class="skip" href="#main">${words.skip}</a>
        <div class="wrap">
          ${renderBrand(branding, words.logo)}
          <main id="main">${body}</main>
          ${renderFooter(branding, words.footer)}
        </div>
      </body>
    </html> `.text;
}

/** Renders the name and the logo, over an initial that shows if the logo doesn't load. */
function renderBrand({ name, logoUrl }: Branding, logo: string): Markup | null {
  if (logoUrl === undefined && name === undefined) return null;
  const alt = name === undefined ? logo : "";
  const initial =
    name !== undefined && html`<span class="letter" aria-hidden="true">${initialOf(name)}</span>`;
  const picture =
    logoUrl !== undefined &&
    html`<img src="${logoUrl}" alt="${alt}" decoding="async" referrerpolicy="no-referrer" />`;
  return html`<header class="brand">
    <span class="logo">${initial}${picture}</span
    >${name !== undefined && html`<span>${isolatedName(name)}</span>`}
  </header>`;
}

function ownIcon({ name, accentColor = ACCENT }: Branding): string {
  const { fill: ground, ink } = filledWith(accentColor);
  const sign =
    name === undefined
      ? html`<path d="M9 17l5 5 9-11" fill="none" stroke="${ink}" stroke-width="3" />`
      : html`<text
          x="16"
          y="23"
          font-family="sans-serif"
          font-size="20"
          font-weight="700"
          text-anchor="middle"
          fill="${ink}"
          >${initialOf(name)}</text
        >`;
  const icon = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
    <rect width="32" height="32" rx="7" fill="${ground}" />
    ${sign}
  </svg>`;
  return `data:image/svg+xml,${encodeURIComponent(icon.text.replace(/\s+/g, " "))}`;
}

/** Renders links that open in a new window, so that typed text isn't lost. */
function renderFooter(branding: Branding, words: Words["footer"]): Markup | null {
  const links = (["privacy", "terms", "support"] as const).flatMap((name) => {
    const address = branding[`${name}Url`];
    if (address === undefined) return [];
    return html`<li>
      <a href="${address}" target="_blank" rel="noopener noreferrer"
        >${words[name]}<span class="unseen"> ${words.newTab}</span></a
      >
    </li>`;
  });
  return links.length === 0
    ? null
    : html`<footer>
        <ul>
          ${links}
        </ul>
      </footer>`;
}

export function backLabel(branding: Branding, language: Language, otherwise: string): Markup {
  if (branding.backLabel !== undefined) return isolatedName(branding.backLabel);
  if (branding.name === undefined) return html`${otherwise}`;
  return fill(languageWords(language).page.backTo, { brand: isolatedName(branding.name) });
}

/** Values for the sentences that name the customer, who may have given no name. */
export function brandWords(
  { name }: Branding,
  language: Language,
): Readonly<Record<"brand" | "Brand" | "toBrand", Markup>> {
  const { is, starts, to, toUnnamed } = languageWords(language).brand;
  if (name === undefined)
    return { brand: html`${is}`, Brand: html`${starts}`, toBrand: html`${toUnnamed}` };
  const brand = isolatedName(name);
  return { brand, Brand: brand, toBrand: fill(to, { brand }) };
}

export interface ProblemSummary {
  readonly language: Language;
  readonly branding: Branding;
  readonly problem: LinkProblem;
  /** The network that the problem is about, or null for the page as a whole. */
  readonly network: string | null;
  /** Whether an account of the network was linked before. It still is. */
  readonly isLinked?: boolean;
}

/** Renders a problem that is about no field. It gets the focus when the page opens, so that it is read first. */
export function renderProblem(summary: ProblemSummary): Markup {
  const { language, branding, problem, network, isLinked = false } = summary;
  const words = languageWords(language);
  const { general, at, kept, entry } = words.problem;
  const named = { network: network ?? "", field: entry, ...brandWords(branding, language) };
  const heading = network === null ? general : isLinked ? kept : at;
  return html`<div class="note bad" role="alert" tabindex="-1" autofocus id="problem">
    <p class="strong">${fill(heading, named)}</p>
    <p>${fill(words.problems[problem], named)}</p>
  </div>`;
}

/** The fields that a form needs to act in the session. */
export interface Capability {
  readonly sessionId: string;
  readonly token: string;
}

export function renderCapability({ sessionId, token }: Capability): Markup {
  return html`<input type="hidden" name="session" value="${sessionId}" /><input
      type="hidden"
      name="token"
      value="${token}"
    />`;
}
