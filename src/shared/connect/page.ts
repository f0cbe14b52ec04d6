import type { LinkCandidate, LinkField, NetworkName } from "../networks/network.ts";
import { html, Markup } from "./markup.ts";
import type { Branding } from "./schema.ts";

/** What the end user may choose from, under the name by which the browser speaks of it. */
export interface OpenChoice {
  readonly id: string;
  readonly candidates: readonly LinkCandidate[];
}

export interface Card {
  readonly network: NetworkName;
  readonly title: string;
  readonly state: "linked" | "needs_reauth" | "unlinked" | "unavailable";
  /** Who is linked. */
  readonly username: string | null;
  readonly avatarUrl: string | null;
  readonly fields: readonly LinkField[];
  /** The network's own page comes next. */
  readonly leaves: boolean;
  /** Where the form goes to. */
  readonly action: string;
  /** What was entered before; never a secret. */
  readonly typed: Readonly<Record<string, string>>;
  readonly problem: string | null;
  /** The network's authorisation is there; one of its accounts has to be chosen. */
  readonly choice: OpenChoice | null;
}

export interface ConnectPage {
  readonly sessionId: string;
  readonly token: string;
  readonly branding: Branding;
  readonly cards: readonly Card[];
  /** About the page as a whole. */
  readonly problem: string | null;
  readonly hasLinked: boolean;
  readonly doneAction: string;
}

export interface Notice {
  readonly title: string;
  readonly text: string;
  readonly back: string | null;
  readonly branding: Branding;
}

const ACCENT = "#2457d6";

/** Black or white, whichever reads better on the colour (WCAG 2.2, relative luminance). */
function textOn(color: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const share = Number.parseInt(color.slice(start, start + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000000" : "#ffffff";
}

/** The colour was matched against `#rrggbb` when the session was made. */
function style(branding: Branding): Markup {
  const accent = branding.accentColor ?? ACCENT;
  return new Markup(`
:root { color-scheme: light dark; --accent: ${accent}; --on-accent: ${textOn(accent)};
  --ground: #f5f6f8; --card: #ffffff; --ink: #16181d; --soft: #565c69; --line: #d7dae0; --bad: #a51d2d; --good: #1b6e3c; }
@media (prefers-color-scheme: dark) { :root { --ground: #14161a; --card: #1e2127; --ink: #eef0f4;
  --soft: #a9b0bd; --line: #3a3f49; --bad: #ff8f9b; --good: #7fd6a2; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 34rem; margin: 0 auto; padding: 2rem 1rem 3rem; }
header { text-align: center; margin-bottom: 1.5rem; }
header img { max-height: 3.5rem; max-width: 60%; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .5rem 0; }
h2 { font-size: 1.1rem; margin: 0; }
p { margin: .25rem 0 .75rem; }
.soft { color: var(--soft); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1rem; margin: 0 0 1rem; }
.problem { color: var(--bad); font-weight: 600; }
.avatar { width: 1.5rem; height: 1.5rem; border-radius: 50%; vertical-align: middle; object-fit: cover; }
.linked { color: var(--good); font-weight: 600; overflow-wrap: anywhere; }
label { display: block; font-weight: 600; margin-top: .75rem; }
input, select { width: 100%; padding: .6rem .7rem; margin-top: .25rem; font: inherit; color: inherit; background: var(--ground);
  border: 1px solid var(--soft); border-radius: .5rem; }
.hint { display: block; font-weight: 400; font-size: .875rem; color: var(--soft); }
button, .button { display: inline-block; margin-top: 1rem; padding: .65rem 1.1rem; min-height: 2.75rem; font: inherit;
  font-weight: 600; color: var(--on-accent); background: var(--accent); border: 1px solid var(--line);
  border-radius: .5rem; cursor: pointer; text-decoration: none; }
button.quiet { color: var(--ink); background: transparent; }
:focus-visible { outline: 3px solid var(--ink); outline-offset: 2px; }
summary { cursor: pointer; margin-top: .5rem; }
fieldset { border: 0; margin: .75rem 0 0; padding: 0; }
legend { font-weight: 600; padding: 0; }
.choice { display: flex; gap: .75rem; align-items: center; min-height: 2.75rem; padding: .4rem .75rem; margin-top: .5rem;
  border: 1px solid var(--line); border-radius: .5rem; cursor: pointer; overflow-wrap: anywhere; }
.choice input { width: auto; margin: 0; accent-color: var(--accent); }
.actions { display: flex; gap: .75rem; flex-wrap: wrap; }
`);
}

function layout(title: string, branding: Branding, body: Markup, nonce: string): string {
  const { name, logoUrl } = branding;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}${name !== undefined && ` · ${name}`}</title>
        <style nonce="${nonce}">
          ${style(branding)}
        </style>
      </head>
      <body>
        <main>
          <header>
            ${logoUrl !== undefined && html`<img src="${logoUrl}" alt="" referrerpolicy="no-referrer" />`}
            ${name !== undefined && html`<p class="soft">${name}</p>`}
            <h1>${title}</h1>
          </header>
          ${body}
        </main>
      </body>
    </html> `.text;
}

/** A page with nothing to do on it but to go back. */
export function renderNotice({ title, text, back, branding }: Notice, nonce: string): string {
  const label = branding.backLabel ?? "Go back";
  const body = html`<section class="card">
    <p>${text}</p>
    ${back !== null && html`<a class="button" href="${back}" rel="noreferrer">${label}</a>`}
  </section>`;
  return layout(title, branding, body, nonce);
}

export function renderConnectPage(page: ConnectPage, nonce: string): string {
  const { branding, problem, hasLinked } = page;
  const back = branding.backLabel ?? "Cancel";
  const body = html` <p class="soft">Choose the accounts that may be published to.</p>
    ${problem !== null && html`<p class="problem" role="alert">${problem}</p>`}
    ${page.cards.map((card) => renderCard(page, card))}
    <form method="post" action="${page.doneAction}">
      ${capability(page)}
      <div class="actions">
        <button name="action" value="done">Done</button>
        ${!hasLinked && html`<button class="quiet" name="action" value="cancel">${back}</button>`}
      </div>
    </form>`;
  return layout("Connect your accounts", branding, body, nonce);
}

function capability({ sessionId, token }: ConnectPage): Markup {
  return html`<input type="hidden" name="session" value="${sessionId}" /><input
      type="hidden"
      name="token"
      value="${token}"
    />`;
}

function renderCard(page: ConnectPage, card: Card): Markup {
  const { title, state, problem, username, avatarUrl, network, choice } = card;
  const form = renderStep(page, card);
  const shown =
    state === "linked" && problem === null && choice === null
      ? html`<details>
          <summary>Connect another account instead</summary>
          ${form}
        </details>`
      : form;
  return html`<section class="card" aria-labelledby="title-${network}">
    <h2 id="title-${network}">${title}</h2>
    ${state === "linked" && html`<p class="linked">${avatarUrl !== null && html`<img class="avatar" src="${avatarUrl}" alt="" referrerpolicy="no-referrer" /> `}Connected as ${username}</p>`}
    ${state === "needs_reauth" && html`<p class="problem">${username} has to be connected again.</p>`}
    ${state === "unavailable" && html`<p class="soft">Not available at the moment.</p>`}
    ${problem !== null && html`<p class="problem" role="alert">${problem}</p>`} ${shown}
  </section>`;
}

function renderStep(page: ConnectPage, card: Card): Markup | null {
  if (card.state === "unavailable") return null;
  return card.choice === null ? renderForm(page, card) : renderChoice(page, card, card.choice);
}

function renderChoice(page: ConnectPage, card: Card, { id, candidates }: OpenChoice): Markup {
  const options = candidates.map(
    (candidate) =>
      html`<label class="choice"
        ><input type="radio" name="candidate" value="${candidate.id}" required /><span
          >${candidate.label}${candidate.hint !== "" && html`<span class="hint">${candidate.hint}</span>`}</span
        ></label
      >`,
  );
  return html`<form method="post" action="${card.action}">
    ${capability(page)}<input type="hidden" name="choice" value="${id}" />
    <fieldset>
      <legend>Which one should be connected?</legend>
      ${options}
    </fieldset>
    <button>Connect this one</button>
  </form>`;
}

function renderForm(page: ConnectPage, card: Card): Markup {
  const { title, leaves, fields } = card;
  return html`<form method="post" action="${card.action}">
    ${capability(page)} ${fields.map((field) => renderField(card, field))}
    <button>${leaves ? `Continue at ${title}` : `Connect ${title}`}</button>
  </form>`;
}

function renderField(card: Card, field: LinkField): Markup {
  return field.choices === undefined
    ? renderInput(card, field)
    : renderSelect(card, { ...field, choices: field.choices });
}

function renderSelect(
  { network, typed }: Card,
  { name, label, hint, choices }: LinkField & Required<Pick<LinkField, "choices">>,
): Markup {
  const id = `${network}-${name}`;
  const options = choices.map(
    ({ value, label }) =>
      html`<option value="${value}" ${value === typed[name] && html` selected`}>${label}</option>`,
  );
  return html`<label for="${id}">${label}<span class="hint" id="${id}-hint">${hint}</span></label>
    <select id="${id}" name="${name}" aria-describedby="${id}-hint">
      ${options}
    </select>`;
}

function renderInput({ network, typed, problem }: Card, field: LinkField): Markup {
  const id = `${network}-${field.name}`;
  const value = field.secret ? "" : (typed[field.name] ?? "");
  return html`<label for="${id}"
      >${field.label}<span class="hint" id="${id}-hint">${field.hint}</span></label
    >
    <input
      id="${id}"
      name="${field.name}"
      type="${field.secret ? "password" : "text"}"
      value="${value}"
      placeholder="${field.placeholder}"
      autocomplete="${field.autocomplete}"
      aria-describedby="${id}-hint"
      ${problem !== null && html` aria-invalid="true"`}
      autocapitalize="none"
      spellcheck="false"
    />`;
}
