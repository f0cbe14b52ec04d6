import type { NetworkName } from "../../networks/lookup.ts";
import { html, type Markup } from "./markup.ts";
import type { LinkProblem } from "./link-problem.ts";
import type { Capability } from "./capability.ts";
import { fieldId, renderForm, type AskedForm, type Way } from "./form.ts";
import { fill, wordsOf, type Language } from "./language.ts";
import { CHECK, markOf, WARNING } from "./marks.ts";
import { initialOf, nameOf } from "./names.ts";

export interface ShownAccount {
  readonly username: string;
  /** Empty where it says no more than the username. */
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
  /** Who is linked. */
  readonly account: ShownAccount | null;
  readonly form: AskedForm;
  /** The form of the other way in, where there is one. */
  readonly otherForm: AskedForm | null;
  /** The network's own page comes next. */
  readonly leaves: boolean;
  /** Where the forms go to. */
  readonly action: string;
  readonly problem: CardProblem | null;
}

export interface CardPage extends Capability {
  readonly language: Language;
}

export function renderCard(page: CardPage, card: Card): Markup {
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

/** Where a problem with the card is to be cured: its first field, else the card. */
export function targetOf({ network, form, otherForm, problem }: Card): string {
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

/** The initial shows where the picture does not. */
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

/** The first way, and below it the other one where there is one. */
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
  const told = problem?.way === way ? problem : null;
  const problemId = `problem-${network}`;
  const sentence =
    told !== null &&
    html`<p class="error" id="${problemId}">
      ${fill(words.problems[told.problem], { network: title })}
    </p>`;
  const made = renderForm({
    sessionId,
    token,
    language,
    network,
    way,
    action,
    ...form,
    typed: told?.typed ?? {},
    problemId: told === null ? null : problemId,
    button: fill(state === "needs_reauth" ? words.card.reconnect : label, { network: title }),
    isCalm: state !== "needs_reauth",
  });
  return html`${sentence}${made}`;
}
