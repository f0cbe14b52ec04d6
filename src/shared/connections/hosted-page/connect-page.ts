import type { NetworkName } from "../../networks/lookup.ts";
import { html, type Markup } from "./markup.ts";
import type { LinkProblem } from "./link-problem.ts";
import type { Branding } from "../schema.ts";
import { renderCapability } from "./capability.ts";
import { renderCard, targetOf, type Card, type CardPage } from "./card.ts";
import { fill, wordsOf } from "./language.ts";
import { backLabel, layout, renderProblem, renderSteps } from "./layout.ts";
import { nameOf } from "./names.ts";

export interface ConnectPage extends CardPage {
  readonly branding: Branding;
  readonly cards: readonly Card[];
  /** About the page as a whole. */
  readonly problem: LinkProblem | null;
  /** Linked a moment ago. */
  readonly justLinked: NetworkName | null;
  /** Something was linked in this session. */
  readonly hasLinked: boolean;
  readonly doneAction: string;
}

export function renderConnectPage(page: ConnectPage, nonce: string): string {
  const { language, branding, cards, hasLinked } = page;
  const words = wordsOf(language);
  const lead =
    branding.name === undefined
      ? html`${words.page.lead}`
      : fill(words.page.leadFor, { brand: nameOf(branding.name) });
  const linked = cards.filter(({ state }) => state === "linked").length;
  const progress = { linked: String(linked), total: String(cards.length) };
  const body = html`${renderTold(page)}
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

/** What became of the last step, before anything else. */
function renderTold({ language, cards, problem, justLinked }: ConnectPage): Markup | null {
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
