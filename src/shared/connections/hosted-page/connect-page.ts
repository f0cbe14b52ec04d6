import type { NetworkName } from "../../networks/networks.ts";
import { html, initialOf, isolatedName, type Markup } from "./markup.ts";
import type { LinkProblem } from "./link-problem.ts";
import type { Branding } from "../schema.ts";
import {
  backLabel,
  brandWords,
  layout,
  renderCapability,
  renderProblem,
  type Capability,
} from "./layout.ts";
import { fill, fillText, languageWords, type Language } from "./language.ts";
import {
  fieldAtFault,
  fieldLabel,
  renderForm,
  type AskedForm,
  type FieldFault,
  type Way,
} from "./form.ts";
import { CHECK, CHEVRON, CROSS, networkMark, WARNING } from "./marks.ts";

export interface ConnectPage extends CardPage {
  readonly cards: readonly Card[];
  readonly problem: LinkProblem | null;
  readonly hasLinked: boolean;
  /** Whether the platform gave an address to return to. */
  readonly hasWayBack: boolean;
  /** How long the session is still open. */
  readonly secondsLeft: number;
  readonly doneAction: string;
}

export function renderConnectPage(page: ConnectPage, nonce: string): string {
  const { language, branding, cards, problem } = page;
  const words = languageWords(language);
  const brand = brandWords(branding, language);
  const opened = openedOf(page);
  const body = html`${problem !== null && renderProblem({ language, branding, problem, network: null })}
    <h1>${words.page.title}</h1>
    <ul class="terms">
      <li>${CHECK}<span>${fill(words.page.may, brand)}</span></li>
      <li>${CROSS}<span>${words.page.mayNot}</span></li>
    </ul>
    <ul class="rows">
      ${cards.map((card) => renderRow(page, card, card.network === opened))}
    </ul>
    ${renderShownName(page, cards.filter(isDirect))} ${renderEnd(page)}`;
  const hasProblem = problem !== null || cards.some((card) => card.problem !== null);
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

/** Says before the user leaves which name the networks will show, unless it is the one that the page shows. */
function renderShownName(
  { language, branding, service }: CardPage,
  cards: readonly Pick<Card, "title">[],
): Markup | null {
  if (cards.length === 0 || service === branding.name) return null;
  const words = languageWords(language).page;
  const titles = cards.map(({ title }) => title);
  const [last = "", ...some] = titles.toReversed();
  const networks =
    some.length === 0 ? last : fillText(words.and, { some: some.toReversed().join(", "), last });
  const named = { networks, service: isolatedName(service), ...brandWords(branding, language) };
  return html`<p class="tail">
    ${fill(branding.name === undefined ? words.shown : words.shownFor, named)}
  </p>`;
}

/** Returns a time in the largest unit of which there are two. Hours and days are rounded down. */
function durationText(seconds: number, locale: Language): string {
  const minutes = Math.max(1, Math.round(seconds / 60));
  const [value, unit] =
    minutes < 120
      ? [minutes, "minute"]
      : minutes < 48 * 60
        ? [Math.floor(minutes / 60), "hour"]
        : [Math.floor(minutes / 1_440), "day"];
  return value.toLocaleString(locale, { style: "unit", unit, unitDisplay: "long" });
}

/** Renders the end of the page. Without a way back, the user closes the window, which ends nothing. */
function renderEnd(page: ConnectPage): Markup {
  const { language, branding, cards, hasLinked, hasWayBack, doneAction } = page;
  const words = languageWords(language).page;
  const linked = cards.filter(({ state }) => state === "linked").length;
  const progress = { linked: String(linked), total: String(cards.length) };
  if (!hasLinked && !hasWayBack) {
    const time = durationText(page.secondsLeft, language);
    return html`<p class="end soft">${fill(words.later, { time })}</p>`;
  }
  return html`<form class="end" method="post" action="${doneAction}">
    ${renderCapability(page)}
    <div class="actions">
      ${
        hasLinked
          ? html`<button name="action" value="done">${words.done}</button>`
          : html`<button class="quiet" name="action" value="cancel">
              <span>${backLabel(branding, language, words.cancel)}</span>
            </button>`
      }
      ${linked > 0 && html`<span class="tail">${fill(words.progress, progress)}</span>`}
    </div>
  </form>`;
}

export interface ShownAccount {
  /** The bold line of the row. */
  readonly name: string;
  /** Empty when it equals the name. */
  readonly handle: string;
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
  /** What the linked account's fields are filled in with. */
  readonly known: Readonly<Record<string, string>>;
  /** Whether the network's own page comes next. */
  readonly leaves: boolean;
  readonly canDisconnect: boolean;
  readonly action: string;
  readonly problem: CardProblem | null;
}

interface CardPage extends Capability {
  readonly language: Language;
  readonly branding: Branding;
  /** The name that this service has at the networks. */
  readonly service: string;
  /** The network whose account the last step has linked. */
  readonly justLinked: NetworkName | null;
  /** The network whose account the last step has disconnected. */
  readonly justDisconnected: NetworkName | null;
}

/** Reports whether the row's button leads straight to the network, because nothing has to be asked before. */
function isDirect({ state, form, otherForm, leaves }: Card): boolean {
  return state === "unlinked" && leaves && form.fields.length === 0 && otherForm === null;
}

/** Renders a network's row. Rows with the same name form a group, of which the browser opens one at a time. */
function renderRow(page: CardPage, card: Card, isOpen: boolean): Markup {
  const { network, title, state, account } = card;
  const words = languageWords(page.language);
  const mark = networkMark(network, title);
  const isNew = page.justLinked === network && state === "linked";
  const name = account === null || state === "unavailable" ? null : account.name;
  const head = html`${name === null || account === null ? mark : renderFace(account, mark)}<span
      class="name"
      role="heading"
      aria-level="2"
      >${name === null ? title : html`<span class="unseen">${title}: </span>${isolatedName(name)}`}</span
    >${renderState(page, card)}`;
  const problem = renderRowProblem(page, card);
  if (state === "unavailable")
    return html`<li class="row off">
      <div class="line">${head}</div>
      ${problem !== null && html`<div class="body">${problem}</div>`}
    </li>`;
  if (isDirect(card))
    return html`<li class="row" id="row-${network}">
      <div class="line">
        ${head}
        <form class="go" method="post" action="${card.action}">
          ${renderCapability(page)}
          <button aria-label="${fill(words.card.connect, { network: title })}">
            ${words.card.connectHere}
          </button>
        </form>
      </div>
      ${problem !== null && html`<div class="body">${problem}</div>`}
    </li>`;
  const { connectHere, reconnectHere, manage } = words.card;
  const go = { unlinked: connectHere, needs_reauth: reconnectHere, linked: manage }[state];
  const kind = state === "linked" ? "go pill quiet" : "go pill";
  return html`<li class="row${isNew && html` new`}">
    ${
      isNew &&
      html`<p class="unseen" role="status" tabindex="-1" autofocus>
        ${fill(words.page.linked, { network: title })}
      </p>`
    }
    <details name="network" id="row-${network}" ${isOpen && html`open`}>
      <summary class="line">${head}<span class="${kind}">${go}</span>${CHEVRON}</summary>
      <div class="body">${problem} ${renderBody(page, card)}</div>
    </details>
  </li>`;
}

/** Renders what kind of account is needed, or what the linked one's standing is. */
function renderState({ language, justDisconnected }: CardPage, card: Card): Markup {
  const { network, title, state, account, form, lacksPermission } = card;
  const words = languageWords(language);
  const about: Readonly<Partial<Record<string, string>>> = words.about;
  const handle = html`<span class="state handle"
    >${title}${account !== null && account.handle !== "" && html` · ${isolatedName(account.handle)}`}</span
  >`;
  switch (state) {
    case "linked":
      return lacksPermission
        ? html`<span class="state is-bad">${WARNING}<span>${words.card.partly}</span></span
            >${handle}`
        : html`<span class="state is-good">${CHECK}<span>${words.card.linked}</span></span
            >${handle}`;
    case "needs_reauth":
      return html`<span class="state is-bad">${WARNING}<span>${words.card.attention}</span></span
        >${handle}`;
    case "unavailable":
      return html`<span class="state">${words.card.unavailable}</span>`;
    case "unlinked": {
      if (justDisconnected === network)
        return html`<span class="state is-good" role="status" tabindex="-1" autofocus
          >${CHECK}<span
            ><span class="unseen">${title}: </span>${words.card.disconnected}</span
          ></span
        >`;
      const asked = form.fields[0]?.name ?? "";
      return html`<span class="state"
        >${about[`${network}.${asked}`] ?? about[network] ?? words.card.unlinked}</span
      >`;
    }
  }
}

/** Renders the picture over an initial, which shows if the picture doesn't load. */
function renderFace({ name, avatarUrl }: ShownAccount, mark: Markup): Markup {
  const picture =
    avatarUrl !== null &&
    html`<img src="${avatarUrl}" alt="" loading="lazy" referrerpolicy="no-referrer" />`;
  return html`<span class="face" aria-hidden="true"
    ><span class="avatar">${initialOf(name)}${picture}</span>${mark}</span
  >`;
}

/** Renders why, or with what effect, the account would be linked again. */
function renderStanding({ language, branding }: CardPage, card: Card): Markup | null {
  const { title: network, state, account, lacksPermission } = card;
  const words = languageWords(language).card;
  const named = {
    network,
    name: isolatedName(account?.name ?? ""),
    ...brandWords(branding, language),
  };
  if (state === "needs_reauth")
    return html`<p>${fill(words.again, named)} ${fill(words.failed, named)}</p>`;
  if (state !== "linked") return null;
  return html`${lacksPermission && html`<p>${fill(words.lacks, named)}</p>`}
    <p>${words.another}</p>`;
}

function renderBody(page: CardPage, card: Card): Markup {
  const words = languageWords(page.language);
  const { network, title, form, otherForm, leaves, problem } = card;
  const summaries: Readonly<Partial<Record<string, string>>> = words.otherWays;
  const isOpen = problem?.way === "other";
  const shownName = leaves ? renderShownName(page, [card]) : null;
  return html`${renderStanding(page, card)} ${renderWay(page, card, { way: "first", form, leaves })}
  ${
    shownName ??
    (leaves && html`<p class="tail">${fill(words.card.leaves, { network: title })}</p>`)
  }
  ${
    otherForm !== null &&
    html`<details ${isOpen && html`open`}>
      <summary>${summaries[network] ?? words.card.otherWay}</summary>
      ${renderWay(page, card, { way: "other", form: otherForm, leaves: false })}
    </details>`
  }
  ${card.canDisconnect && renderDisconnect(page, card)}`;
}

/** Renders what ends the connection: a line to open, and in it what that means and the button. */
function renderDisconnect(page: CardPage, card: Card): Markup {
  const { language, branding } = page;
  const { title: network, account, action } = card;
  const words = languageWords(language).card;
  const name = isolatedName(account?.name ?? "");
  const named = { network, name, ...brandWords(branding, language) };
  return html`<details class="leave">
    <summary>${words.disconnect}</summary>
    <form method="post" action="${action}">
      ${renderCapability(page)}
      <p>${fill(words.disconnectEffect, named)}</p>
      <button class="grave" name="action" value="disconnect">
        <span>${fill(words.disconnectNow, named)}</span>
      </button>
    </form>
  </details>`;
}

function fieldFault(page: CardPage, card: Card, way: Way): FieldFault | null {
  const { language, branding } = page;
  const { problem, title, form, otherForm } = card;
  const asked = way === "first" ? form : otherForm;
  if (problem?.way !== way || asked === null) return null;
  const field = problem.field ?? fieldAtFault(problem.problem, asked.fields, problem.typed);
  if (field === undefined) return null;
  const named = {
    network: title,
    field: fieldLabel(language, asked, field),
    ...brandWords(branding, language),
  };
  return { field, sentence: fill(languageWords(language).problems[problem.problem], named) };
}

/** Renders the row's problem, unless a field shows it. */
function renderRowProblem(page: CardPage, card: Card): Markup | null {
  const { language, branding } = page;
  const { problem, title: network, account } = card;
  if (problem === null || fieldFault(page, card, problem.way) !== null) return null;
  const isLinked = account !== null;
  return renderProblem({ language, branding, problem: problem.problem, network, isLinked });
}

function renderWay(
  page: CardPage,
  card: Card,
  { way, form, leaves }: { readonly way: Way; readonly form: AskedForm; readonly leaves: boolean },
): Markup {
  const { sessionId, token, language } = page;
  const { network, title, action, state, problem } = card;
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
    typed: problem?.way === way ? problem.typed : card.known,
    fault: fieldFault(page, card, way),
    button: fill(state === "unlinked" ? label : words.card.reconnect, { network: title }),
    isQuiet: state === "linked" && !card.lacksPermission,
  });
}
