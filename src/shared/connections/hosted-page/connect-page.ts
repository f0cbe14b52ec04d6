import type { NetworkName } from "../../networks/lookup.ts";
import { html, initialOf, isolatedName, type Markup } from "./markup.ts";
import type { LinkProblem } from "./link-problem.ts";
import type { Branding } from "../schema.ts";
import {
  backLabel,
  layout,
  renderCapability,
  renderProblem,
  renderSteps,
  type Capability,
} from "./layout.ts";
import { fill, languageWords, type Language } from "./language.ts";
import { fieldAtFault, renderForm, type AskedForm, type FieldFault, type Way } from "./form.ts";
import { CHECK, CHEVRON, networkMark, WARNING } from "./marks.ts";

export interface ConnectPage extends CardPage {
  readonly branding: Branding;
  readonly cards: readonly Card[];
  readonly problem: LinkProblem | null;
  /** The network whose account the last step has linked. */
  readonly justLinked: NetworkName | null;
  readonly hasLinked: boolean;
  /** Whether the platform gave an address to return to. */
  readonly hasWayBack: boolean;
  readonly doneAction: string;
}

export function renderConnectPage(page: ConnectPage, nonce: string): string {
  const { language, branding, cards } = page;
  const words = languageWords(language);
  const lead =
    branding.name === undefined
      ? html`${words.page.lead}`
      : fill(words.page.leadFor, { brand: isolatedName(branding.name) });
  const opened = openedOf(page);
  const body = html`${renderReport(page)}
    <h1>${words.page.title}</h1>
    <p class="soft">${lead}</p>
    ${renderSteps("network", language)}
    <ul class="rows">
      ${cards.map((card) => renderRow(page, card, card.network === opened))}
    </ul>
    ${renderEnd(page)}
    <p class="tail">${words.page.note}</p>`;
  const hasProblem = page.problem !== null || cards.some(({ problem }) => problem !== null);
  return layout({ language, nonce, branding, title: words.page.title, hasProblem, body });
}

/** Returns the row that is open at first: the one with an error, or the only one. */
function openedOf({ cards, justLinked }: ConnectPage): NetworkName | undefined {
  const wrong = cards.find(({ problem }) => problem !== null);
  if (wrong !== undefined) return wrong.network;
  if (justLinked !== null) return undefined;
  const only = cards.length === 1 ? cards[0] : undefined;
  const again = cards.find(({ state }) => state === "needs_reauth");
  return (again ?? (only?.state === "unlinked" ? only : undefined))?.network;
}

/** Renders the result of the last step, unless a row says it. */
function renderReport({ language, cards, problem, justLinked }: ConnectPage): Markup | null {
  if (problem !== null) return renderProblem({ language, problem, network: null });
  const made = cards.find(({ network, state }) => network === justLinked && state === "linked");
  if (made === undefined) return null;
  const words = languageWords(language).page;
  return html`<p class="note good" role="status" tabindex="-1" autofocus>
    ${CHECK}${fill(words.linked, { network: made.title })}
  </p>`;
}

/** Renders the end of the page. Without a way back, the user closes the window, which ends nothing. */
function renderEnd(page: ConnectPage): Markup {
  const { language, branding, cards, hasLinked, hasWayBack, doneAction } = page;
  const words = languageWords(language).page;
  const linked = cards.filter(({ state }) => state === "linked").length;
  const progress = { linked: String(linked), total: String(cards.length) };
  if (!hasLinked && !hasWayBack) return html`<p class="end soft">${words.later}</p>`;
  return html`<form class="end" method="post" action="${doneAction}">
    ${renderCapability(page)}
    <div class="actions">
      ${
        hasLinked
          ? html`<button name="action" value="done">${words.done}</button>
              <span class="tail">${fill(words.progress, progress)}. ${words.doneHint}</span>`
          : html`<button class="quiet" name="action" value="cancel">
              <span>${backLabel(branding, language, words.cancel)}</span>
            </button>`
      }
    </div>
  </form>`;
}

export interface ShownAccount {
  readonly username: string;
  /** Empty when it equals the username. */
  readonly displayName: string;
  readonly avatarUrl: string | null;
}

export interface CardProblem {
  readonly problem: LinkProblem;
  readonly way: Way;
  /** The field whose input can't be read, if known. */
  readonly field?: string | undefined;
  /** What was entered before, without secrets. */
  readonly typed: Readonly<Record<string, string>>;
}

export interface Card {
  readonly network: NetworkName;
  readonly title: string;
  readonly state: "linked" | "needs_reauth" | "unlinked" | "unavailable";
  readonly account: ShownAccount | null;
  /** Whether the linked account lacks a permission that linking it again would request. */
  readonly lacksPermission: boolean;
  readonly form: AskedForm;
  readonly otherForm: AskedForm | null;
  /** Whether the network's own page comes next. */
  readonly leaves: boolean;
  readonly action: string;
  readonly problem: CardProblem | null;
}

interface CardPage extends Capability {
  readonly language: Language;
}

/** Renders a network's row. Rows with the same name form a group, of which the browser opens one at a time. */
function renderRow(page: CardPage, card: Card, isOpen: boolean): Markup {
  const { network, title, state, account } = card;
  const isOff = state === "unavailable";
  const head = html`${networkMark(network, title)}
    <span class="head"
      ><span class="name" role="heading" aria-level="2">${title}</span
      >${renderState(page, card)}</span
    >
    ${!isOff && account !== null && renderAvatar(account)}`;
  if (isOff)
    return html`<li class="row off">
      <div class="line">${head}</div>
      ${card.problem !== null && html`<div class="body">${renderRowProblem(page, card)}</div>`}
    </li>`;
  return html`<li class="row">
    <details name="network" id="row-${network}" ${isOpen && html`open`}>
      <summary class="line">${head}${CHEVRON}</summary>
      <div class="body">${renderBody(page, card)}</div>
    </details>
  </li>`;
}

function renderState({ language }: CardPage, card: Card): Markup {
  const { state, account, lacksPermission } = card;
  const words = languageWords(language).card;
  const { username = "", displayName = "" } = account ?? {};
  // One line, so that all closed rows fit on a screen.
  const more = lacksPermission ? words.partly : displayName === "" ? "" : isolatedName(displayName);
  switch (state) {
    case "linked":
      return html`<span class="state is-good"
          >${CHECK}<span>${fill(words.linkedAs, { name: isolatedName(username) })}</span></span
        >${more !== "" && html`<span class="state">${more}</span>`}`;
    case "needs_reauth":
      return html`<span class="state is-bad">${WARNING}<span>${words.attention}</span></span
        ><span class="state">${isolatedName(username)}</span>`;
    case "unavailable":
      return html`<span class="state">${words.unavailable}</span>`;
    case "unlinked":
      return html`<span class="state">${words.unlinked}</span>`;
  }
}

/** Renders the picture over an initial, which shows if the picture doesn't load. */
function renderAvatar({ username, displayName, avatarUrl }: ShownAccount): Markup {
  const picture =
    avatarUrl !== null &&
    html`<img src="${avatarUrl}" alt="" loading="lazy" referrerpolicy="no-referrer" />`;
  return html`<span class="avatar" aria-hidden="true"
    >${initialOf(displayName === "" ? username : displayName)}${picture}</span
  >`;
}

/** Renders why, or with what effect, the account would be linked again. */
function renderStanding({ language }: CardPage, card: Card): Markup | null {
  const { title: network, state, account, lacksPermission } = card;
  const words = languageWords(language).card;
  if (state === "needs_reauth")
    return html`<p>${fill(words.again, { name: isolatedName(account?.username ?? "") })}</p>`;
  if (state !== "linked") return null;
  return html`${lacksPermission && html`<p>${fill(words.lacks, { network })}</p>`}
    <p>${words.another}</p>`;
}

function renderBody(page: CardPage, card: Card): Markup {
  const words = languageWords(page.language);
  const { network, title, form, otherForm, leaves, problem } = card;
  const about: Readonly<Partial<Record<string, string>>> = words.about;
  const summaries: Readonly<Partial<Record<string, string>>> = words.otherWays;
  const hint = about[network];
  const isOpen = problem?.way === "other";
  return html`${renderRowProblem(page, card)} ${renderStanding(page, card)}
  ${hint !== undefined && form.fields.length === 0 && html`<p>${hint}</p>`}
  ${leaves && html`<p class="soft">${fill(words.card.leaves, { network: title })}</p>`}
  ${renderWay(page, card, { way: "first", form, leaves })}
  ${
    otherForm !== null &&
    html`<details ${isOpen && html`open`}>
      <summary>${summaries[network] ?? words.card.otherWay}</summary>
      ${renderWay(page, card, { way: "other", form: otherForm, leaves: false })}
    </details>`
  }`;
}

function isAgain({ state, lacksPermission }: Card): boolean {
  return state === "needs_reauth" || (state === "linked" && lacksPermission);
}

function fieldFault({ language }: CardPage, card: Card, way: Way): FieldFault | null {
  const { problem, title, form, otherForm } = card;
  const { fields = [] } = (way === "first" ? form : otherForm) ?? {};
  if (problem?.way !== way) return null;
  const field = problem.field ?? fieldAtFault(problem.problem, fields, problem.typed);
  const sentence = fill(languageWords(language).problems[problem.problem], { network: title });
  return field === undefined ? null : { field, sentence };
}

/** Renders the row's problem, unless a field shows it. */
function renderRowProblem(page: CardPage, card: Card): Markup | null {
  const { problem, title: network, account } = card;
  if (problem === null || fieldFault(page, card, problem.way) !== null) return null;
  const isLinked = account !== null;
  return renderProblem({ language: page.language, problem: problem.problem, network, isLinked });
}

function renderWay(
  page: CardPage,
  card: Card,
  { way, form, leaves }: { readonly way: Way; readonly form: AskedForm; readonly leaves: boolean },
): Markup {
  const { sessionId, token, language } = page;
  const { network, title, action, problem } = card;
  const words = languageWords(language);
  const label = leaves ? words.card.continueAt : words.card.connect;
  return renderForm({
    sessionId,
    token,
    language,
    network,
    way,
    action,
    ...form,
    typed: problem?.way === way ? problem.typed : {},
    fault: fieldFault(page, card, way),
    button: fill(isAgain(card) ? words.card.reconnect : label, { network: title }),
  });
}
