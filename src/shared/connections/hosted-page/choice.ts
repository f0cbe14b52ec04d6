import {
  type BoundedChoice,
  boundedLink,
  type BoundedLinking,
} from "../../networks/contract/bounded.ts";
import type { LinkCandidate } from "../../networks/contract/link.ts";
import type { NetworkName, RegisteredNetwork } from "../../networks/networks.ts";
import { randomToken } from "../../runtime/secrets.ts";
import type { ConnectionsDeps } from "../deps.ts";
import {
  isSameBrowser,
  pageAddress,
  redirect,
  type BrowserAnswer,
  type BrowserRequest,
} from "./browser.ts";
import { visitLimits } from "../connect-session.ts";
import { createNetworkTools } from "../network-tools.ts";
import type { FoundAttempt, OAuthAttempt } from "../oauth-state-store.ts";
import type { OpenVisit } from "./visit.ts";
import { html, initialOf, isolatedName, plainName, type Markup } from "./markup.ts";
import type { LinkProblem } from "./link-problem.ts";
import type { Branding } from "../schema.ts";
import type { Words } from "./words.ts";
import { brandWords, layout, renderCapability, type Capability } from "./layout.ts";
import { fill, fillText, languageWords, type Language } from "./language.ts";
import { CHECK, networkMark, WARNING } from "./marks.ts";

const CHOICE_MS = 15 * 60_000;
const CHOICE_CHARACTERS_MAX = 200;

/**
 * Stores the accounts of an authorization and leads back to the page, where the end user chooses one. The browser only
 * gets a name for the choice. The authorization is bound to this session and this browser.
 */
export async function offerChoice(
  services: Pick<ConnectionsDeps, "config" | "clock" | "stores">,
  attempt: OAuthAttempt,
  { candidates, isCut, flow }: BoundedChoice,
): Promise<BrowserAnswer> {
  const { config, clock } = services;
  const { sessionId, network, cookieHash, secrets } = attempt;
  const choice = randomToken();
  await services.stores.oauthStates.insert(choice, {
    sessionId,
    network,
    cookieHash,
    expiresAt: new Date(clock.now().getTime() + CHOICE_MS).toISOString(),
    secrets: {
      codeVerifier: "",
      token: secrets.token,
      flow,
      candidates: [...candidates],
      ...(isCut === true && { isCut }),
    },
  });
  return redirect(pageAddress(config, sessionId, secrets.token, { network, choice }));
}

interface NamedChoice {
  readonly visit: OpenVisit;
  readonly network: NetworkName;
  /** The choice's name, as the browser sent it. */
  readonly choice: string | undefined;
}

/** Finds the open choice of this session, network and browser. Undefined when there is none any more. */
export async function findChoice(
  services: ConnectionsDeps,
  request: BrowserRequest,
  named: NamedChoice,
): Promise<OpenChoice | undefined> {
  const found = await findOpenChoice(services, request, named);
  const { candidates, isCut = false } = found?.attempt.secrets ?? {};
  return named.choice === undefined || candidates === undefined
    ? undefined
    : { id: named.choice, candidates, isCut };
}

/** Links the chosen candidate. `over`: the choice was used or has expired. `unknown`: no candidate, still open. */
export async function takeChoice(
  services: ConnectionsDeps,
  request: BrowserRequest,
  {
    network,
    candidateId,
    ...named
  }: Omit<NamedChoice, "network"> & {
    readonly network: RegisteredNetwork;
    readonly candidateId: string | undefined;
  },
): Promise<BoundedLinking | { readonly kind: "over" } | { readonly kind: "unknown" }> {
  const { link } = network;
  const found = await findOpenChoice(services, request, { ...named, network: network.name });
  if (found === undefined || named.choice === undefined) return { kind: "over" };
  const { candidates = [], flow } = found.attempt.secrets;
  const candidate = candidates.find(({ id, isBarred }) => id === candidateId && isBarred !== true);
  if (candidate === undefined) return { kind: "unknown" };
  if (link.kind !== "oauth" || link.choose === undefined) return { kind: "over" };
  if (!(await services.stores.oauthStates.consume(named.choice, found))) return { kind: "over" };
  const tools = createNetworkTools(services, network.name, visitLimits(named.visit.session));
  return boundedLink(await link.choose(candidate.id, flow, tools));
}

async function findOpenChoice(
  services: ConnectionsDeps,
  request: BrowserRequest,
  { visit, network, choice }: NamedChoice,
): Promise<FoundAttempt | undefined> {
  if (choice === undefined || choice === "" || choice.length > CHOICE_CHARACTERS_MAX)
    return undefined;
  const found = await services.stores.oauthStates.find(choice);
  if (found === undefined) return undefined;
  const { attempt } = found;
  const isOpen =
    attempt.secrets.candidates !== undefined &&
    attempt.sessionId === visit.session.id &&
    attempt.network === network &&
    isSameBrowser(services, request, attempt.cookieHash) &&
    Date.parse(attempt.expiresAt) > services.clock.now().getTime();
  return isOpen ? found : undefined;
}

/** The accounts from which the end user may choose. `choice` is the name that the browser has for them. */
export interface OpenChoice {
  readonly id: string;
  readonly candidates: readonly LinkCandidate[];
  readonly isCut: boolean;
}

export interface ChoicePage extends Capability {
  readonly language: Language;
  readonly branding: Branding;
  readonly network: NetworkName;
  readonly title: string;
  readonly choice: OpenChoice;
  readonly problem: LinkProblem | null;
  readonly action: string;
  readonly pageAddress: string;
}

export function renderChoicePage(page: ChoicePage, nonce: string): string {
  const { language, branding, network, title, choice, problem } = page;
  const words = languageWords(language);
  const brand = brandWords(branding, language);
  const isWrong = problem !== null;
  const fault =
    isWrong &&
    html`<p class="error" id="problem">
      ${WARNING}<span>${fill(words.problems[problem], { network: title, ...brand })}</span>
    </p>`;
  const usable = choice.candidates.filter(({ isBarred }) => isBarred !== true);
  const barred = choice.candidates.filter(({ isBarred }) => isBarred === true);
  const body = html`${renderSteps(words.steps)}
    <div class="card plain">
      <div class="ahead">
        ${networkMark(network, title)}
        <h1>${fill(words.choice.title, brand)}</h1>
      </div>
      <p class="soft">${fill(words.choice.lead, { network: title })}</p>
      <form method="post" action="${page.action}" class="end">
        ${renderCapability(page)}<input type="hidden" name="choice" value="${choice.id}" />
        <fieldset>
          <legend class="unseen">${words.choice.pages}</legend>
          ${fault}
          ${usable.map((one, index) => renderCandidate(one, { isFault: isWrong && index === 0 }))}
          ${barred.map((one) => renderCandidate(one, { isFault: false, why: words.choice.barred }))}
        </fieldset>
        ${choice.isCut && html`<p>${fill(words.choice.cut, { network: title })}</p>`}
        <div class="actions">
          ${usable.length > 0 && html`<button>${words.choice.submit}</button>`}
          <a href="${page.pageAddress}">${words.choice.back}</a>
        </div>
      </form>
    </div>`;
  const named = { brand: branding.name === undefined ? words.brand.is : plainName(branding.name) };
  return layout({
    language,
    nonce,
    branding,
    title: fillText(words.choice.title, named),
    hasProblem: isWrong,
    body,
  });
}

/** Renders the steps of linking one account: the user comes back from the network and chooses. */
function renderSteps({ label, login, choose, done }: Words["steps"]): Markup {
  return html`<ol class="steps" aria-label="${label}">
    <li class="over"><span aria-hidden="true">${CHECK}</span>${login}</li>
    <li aria-current="step"><span aria-hidden="true">2</span>${choose}</li>
    <li><span aria-hidden="true">3</span>${done}</li>
  </ol>`;
}

/** Renders a page to choose, or with `why` one that can't be chosen. */
function renderCandidate(
  { id, label, hint }: LinkCandidate,
  { isFault, why }: { readonly isFault: boolean; readonly why?: string },
): Markup {
  const atFault = isFault && html`aria-describedby="problem" autofocus`;
  return html`<label class="choice"
    ><input
      type="radio"
      name="candidate"
      value="${id}"
      ${why === undefined ? html`required` : html`disabled`}
      ${atFault}
    /><span class="avatar" aria-hidden="true">${initialOf(label)}</span
    ><span
      >${isolatedName(label)}${hint !== "" && html`<span class="hint">${isolatedName(hint)}</span>`}${why !== undefined && html`<span class="hint">${why}</span>`}</span
    ></label
  >`;
}
