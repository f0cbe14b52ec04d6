import type { NetworkName } from "../../networks/lookup.ts";
import type { LinkCandidate } from "../../networks/contract/network.ts";
import { html, type Markup } from "./markup.ts";
import type { LinkProblem } from "./link-problem.ts";
import type { Branding } from "../schema.ts";
import { renderCapability, type Capability } from "./capability.ts";
import { fill, wordsOf, type Language } from "./language.ts";
import { layout, renderProblem, renderSteps } from "./layout.ts";
import { markOf } from "./marks.ts";
import { initialOf, nameOf } from "./names.ts";

/** What the end user may choose from, under the name by which the browser speaks of it. */
export interface OpenChoice {
  readonly id: string;
  readonly candidates: readonly LinkCandidate[];
}

/** The network's authorisation is there; one of its accounts has to be chosen. */
export interface ChoicePage extends Capability {
  readonly language: Language;
  readonly branding: Branding;
  readonly network: NetworkName;
  readonly title: string;
  readonly choice: OpenChoice;
  readonly problem: LinkProblem | null;
  /** Where the form goes to. */
  readonly action: string;
  /** The page with all networks. */
  readonly pageAddress: string;
}

export function renderChoicePage(page: ChoicePage, nonce: string): string {
  const { language, branding, network, title, choice, problem } = page;
  const words = wordsOf(language).choice;
  const told =
    problem !== null && renderProblem({ language, problem, network: null, target: null });
  const body = html`${told}${renderSteps("allow", language)}
    <div class="card plain">
      <div class="ahead">
        ${markOf(network, title)}
        <div>
          <h1>${words.title}</h1>
          <p class="soft">${fill(words.lead, { network: title })}</p>
        </div>
      </div>
      <form method="post" action="${page.action}">
        ${renderCapability(page)}<input type="hidden" name="choice" value="${choice.id}" />
        <fieldset ${problem !== null && html`aria-describedby="problem"`}>
          <legend>${words.legend}</legend>
          ${choice.candidates.map(renderCandidate)}
        </fieldset>
        <div class="actions">
          <button>${words.submit}</button>
          <a href="${page.pageAddress}">${words.back}</a>
        </div>
      </form>
    </div>`;
  return layout({
    language,
    nonce,
    branding,
    title: words.title,
    hasProblem: problem !== null,
    body,
  });
}

function renderCandidate({ id, label, hint }: LinkCandidate): Markup {
  return html`<label class="choice"
    ><input type="radio" name="candidate" value="${id}" required /><span
      class="avatar"
      aria-hidden="true"
      >${initialOf(label)}</span
    ><span
      >${nameOf(label)}${hint !== "" && html`<span class="hint">${nameOf(hint)}</span>`}</span
    ></label
  >`;
}
