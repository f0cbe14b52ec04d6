import type { NetworkName } from "../../networks/lookup.ts";
import { html, initialOf, nameOf, type Markup } from "./markup.ts";
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
import { fill, wordsOf, type Language } from "./language.ts";
import { fieldId, renderForm, type AskedForm, type Way } from "./form.ts";
import { CHECK, markOf, WARNING } from "./marks.ts";

export interface ConnectPage extends CardPage {
  readonly branding: Branding;
  readonly cards: readonly Card[];
  readonly problem: LinkProblem | null;
  /** The network whose account was linked in the step before. */
  readonly justLinked: NetworkName | null;
  /** Whether an account was linked in this session. */
  readonly hasLinked: boolean;
  readonly doneAction: string;
}

/** Renders the page with a card for each network. */
export function renderConnectPage(page: ConnectPage, nonce: string): string {
  const { language, branding, cards, hasLinked } = page;
  const words = wordsOf(language);
  const lead =
    branding.name === undefined
      ? html`${words.page.lead}`
      : fill(words.page.leadFor, { brand: nameOf(branding.name) });
  const linked = cards.filter(({ state }) => state === "linked").length;
  const progress = { linked: String(linked), total: String(cards.length) };
  const body = html`${renderReport(page)}
    <h1>${words.page.title}</h1>
    <p class="soft">${lead}</p>
    ${renderSteps(hasLinked ? "done" : "network", language)}
    <ul class="cards">
      ${cards.map((card) => renderCard(page, card))}
    </ul>
    ${renderEnd(page)}
    <footer>
      <p>${fill(words.page.progress, progress)}. ${words.page.note}</p>
    </footer>`;
  const hasProblem = page.problem !== null || cards.some(({ problem }) => problem !== null);
  return layout({ language, nonce, branding, title: words.page.title, hasProblem, body });
}

/** Renders the result of the last step, which comes before everything else. */
function renderReport({ language, cards, problem, justLinked }: ConnectPage): Markup | null {
  if (problem !== null) return renderProblem({ language, problem, network: null, target: null });
  const card = cards.find((one) => one.problem !== null);
  if (card?.problem != null) {
    const { title: network } = card;
    return renderProblem({
      language,
      problem: card.problem.problem,
      network,
      target: targetOf(card),
    });
  }
  const made = cards.find(({ network, state }) => network === justLinked && state === "linked");
  if (made === undefined) return null;
  const words = wordsOf(language).page;
  return html`<p class="note good" role="status">
    ${fill(words.linked, { network: made.title })}
  </p>`;
}

function renderEnd(page: ConnectPage): Markup {
  const { language, branding, hasLinked, doneAction } = page;
  const words = wordsOf(language).page;
  return html`<form class="end" method="post" action="${doneAction}">
    ${renderCapability(page)}
    <div class="actions">
      ${
        hasLinked
          ? html`<button name="action" value="done">${words.done}</button>
              <span class="soft">${words.doneHint}</span>`
          : html`<button class="quiet" name="action" value="cancel">
              <span>${backLabel(branding, language, words.cancel)}</span>
            </button>`
      }
    </div>
  </form>`;
}

export interface ShownAccount {
  readonly username: string;
  /** Empty when it is the same as the username. */
  readonly displayName: string;
  readonly avatarUrl: string | null;
}

export interface CardProblem {
  readonly problem: LinkProblem;
  readonly way: Way;
  /** What was entered before; never a secret. */
  readonly typed: Readonly<Record<string, string>>;
}

export interface Card {
  readonly network: NetworkName;
  readonly title: string;
  readonly state: "linked" | "needs_reauth" | "unlinked" | "unavailable";
  readonly account: ShownAccount | null;
  readonly form: AskedForm;
  /** The form of the second way to link, if there is one. */
  readonly otherForm: AskedForm | null;
  /** Whether the network's own page comes next. */
  readonly leaves: boolean;
  readonly action: string;
  readonly problem: CardProblem | null;
}

interface CardPage extends Capability {
  readonly language: Language;
}

function renderCard(page: CardPage, card: Card): Markup {
  const { network, title, state, account } = card;
  return html`<li class="card${state === "unavailable" && " off"}" id="card-${network}">
    ${markOf(network, title)}
    <div class="head">
      <h2>${title}</h2>
      ${renderState(page, card)}
    </div>
    ${state !== "unavailable" && account !== null && renderAvatar(account)}
    ${state !== "unavailable" && html`<div class="body">${renderBody(page, card)}</div>`}
  </li>`;
}

/** Returns the id of the element to look at when the card has a problem: its first field, or else the card. */
function targetOf({ network, form, otherForm, problem }: Card): string {
  const way = problem?.way ?? "first";
  const [first] = (way === "first" ? form : otherForm)?.fields ?? [];
  return first === undefined ? `card-${network}` : fieldId(network, way, first.name);
}

function renderState({ language }: CardPage, { state, account }: Card): Markup {
  const words = wordsOf(language).card;
  const { username = "", displayName = "" } = account ?? {};
  switch (state) {
    case "linked":
      return html`<p class="state is-good">
          ${CHECK}${fill(words.linkedAs, { name: nameOf(username) })}
        </p>
        ${displayName !== "" && html`<p class="state">${nameOf(displayName)}</p>`}`;
    case "needs_reauth":
      return html`<p class="state is-bad">${WARNING}${words.attention}</p>`;
    case "unavailable":
      return html`<p class="state">${words.unavailable}</p>`;
    case "unlinked":
      return html`<p class="state">${words.unlinked}</p>`;
  }
}

/** Renders the picture over an initial, which shows if the picture does not load. */
function renderAvatar({ username, displayName, avatarUrl }: ShownAccount): Markup {
  const picture =
    avatarUrl !== null &&
    html`<img src="${avatarUrl}" alt="" loading="lazy" referrerpolicy="no-referrer" />`;
  return html`<span class="avatar" aria-hidden="true"
    >${initialOf(displayName === "" ? username : displayName)}${picture}</span
  >`;
}

function renderBody(page: CardPage, card: Card): Markup {
  const words = wordsOf(page.language);
  const { state, account, problem } = card;
  const name = nameOf(account?.username ?? "");
  const again = state === "needs_reauth" && html`<p>${fill(words.card.again, { name })}</p>`;
  const ways = renderWays(page, card);
  const isSettled = state === "linked" && problem === null;
  return html`${again}${
    isSettled
      ? html`<details>
          <summary>${words.card.another}</summary>
          <div class="ways">${ways}</div>
        </details>`
      : ways
  }`;
}

/** Renders the first way to link and, below it, the second one if there is one. */
function renderWays(page: CardPage, card: Card): Markup {
  const { network, form, otherForm, leaves } = card;
  const words = wordsOf(page.language);
  const about: Readonly<Partial<Record<string, string>>> = words.about;
  const hint = about[network];
  const first = renderWay(page, card, { way: "first", form, leaves });
  const explained = html`${hint !== undefined && form.fields.length === 0 && html`<p class="soft">${hint}</p>`}${first}`;
  if (otherForm === null) return explained;
  const summaries: Readonly<Partial<Record<string, string>>> = words.otherWays;
  const isOpen = card.problem?.way === "other";
  return html`${explained}
    <details ${isOpen && html`open`}>
      <summary>${summaries[network] ?? words.card.otherWay}</summary>
      ${renderWay(page, card, { way: "other", form: otherForm, leaves: false })}
    </details>`;
}

function renderWay(
  { sessionId, token, language }: CardPage,
  { network, title, state, action, problem }: Card,
  { way, form, leaves }: { readonly way: Way; readonly form: AskedForm; readonly leaves: boolean },
): Markup {
  const words = wordsOf(language);
  const label = leaves ? words.card.continueAt : words.card.connect;
  const report = problem?.way === way ? problem : null;
  const problemId = `problem-${network}`;
  const sentence =
    report !== null &&
    html`<p class="error" id="${problemId}">
      ${fill(words.problems[report.problem], { network: title })}
    </p>`;
  const made = renderForm({
    sessionId,
    token,
    language,
    network,
    way,
    action,
    ...form,
    typed: report?.typed ?? {},
    problemId: report === null ? null : problemId,
    button: fill(state === "needs_reauth" ? words.card.reconnect : label, { network: title }),
    isCalm: state !== "needs_reauth",
  });
  return html`${sentence}${made}`;
}
