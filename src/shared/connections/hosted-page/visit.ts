import type { Config } from "../../config/config.ts";
import type { ConnectionStore } from "../connection-store.ts";
import type { ConnectionsDeps } from "../deps.ts";
import {
  pageAddress,
  pageAnswer,
  redirect,
  type BrowserAnswer,
  type BrowserRequest,
} from "./browser.ts";
import {
  isTokenOf,
  linkedIds,
  platformOfToken,
  returnAddress,
  sessionStatus,
  type ConnectSession,
} from "../connect-session.ts";
import { sessionState } from "../session-state.ts";
import { isLocale } from "../../runtime/locale.ts";
import { html, isolatedName, plainName, type Markup } from "./markup.ts";
import type { Branding } from "../schema.ts";
import { fill, languageWords, type Language } from "./language.ts";
import { backLabel, brandWords, layout } from "./layout.ts";
import { CHECK, networkMark } from "./marks.ts";
import type { Words } from "./words.ts";
import { AppError } from "../../runtime/errors.ts";
import { networkOf, type NetworkName } from "../../networks/networks.ts";

/** A browser with a session's address. `over`: the token is right, but nothing can be linked any more. */
export type Visit =
  | { readonly kind: "open"; readonly session: ConnectSession; readonly token: string }
  | { readonly kind: "over"; readonly session: ConnectSession }
  | { readonly kind: "unknown" };

export type OpenVisit = Pick<Extract<Visit, { kind: "open" }>, "session" | "token">;

/** Finds the session that the address names, if its token is right. A made-up token costs no storage request. */
export async function openVisit(
  services: ConnectionsDeps,
  fields: Readonly<Record<string, string>>,
): Promise<Visit> {
  const { session: id = "", token = "" } = fields;
  const platformId = platformOfToken(services.linking.linkTokens, token, id);
  if (platformId === undefined) return { kind: "unknown" };
  const session = await services.stores.connectSessions.find({ platformId, id });
  if (session === undefined || !isTokenOf(session, token)) return { kind: "unknown" };
  const state = await sessionState(services, session);
  return state === "open" ? { kind: "open", session, token } : { kind: "over", session };
}

/** The language, and the platform's name and branding. */
export type Look = Pick<PageNotice, "language" | "branding">;

/** Returns the branding of a session's pages, or the default one when the session is unknown. */
export function lookOf(
  config: Config,
  { language }: BrowserRequest,
  session?: ConnectSession,
): Look {
  const { branding = {} } = session ?? {};
  const { locale, supportUrl = config.service.supportUrl } = branding;
  return {
    // A later build may have more languages.
    language: locale !== undefined && isLocale(locale) ? locale : language,
    branding: supportUrl === undefined ? branding : { ...branding, supportUrl },
  };
}

/** Answers with a page that says what is wrong and what was linked, with the way back if it is known. */
export async function endNotice(
  services: ConnectionsDeps,
  request: BrowserRequest,
  session: ConnectSession | undefined,
): Promise<BrowserAnswer> {
  if (session === undefined) return plainNotice(services.config, request, "unknown", 404);
  const notice = await sessionState(services, session);
  const address = returnAddress(session, notice);
  const back = address === undefined ? null : services.outbound.browserUrl(address);
  const accounts = await linkedAccounts(services.stores.connections, session);
  const page = { ...lookOf(services.config, request, session), notice, back, accounts };
  return pageAnswer(410, (nonce) => renderNotice(page, nonce));
}

/** Ends a visit. Leads back to the platform's page, or says what was linked and that the window can be closed. */
export async function leave(
  services: ConnectionsDeps,
  request: BrowserRequest,
  session: ConnectSession,
): Promise<BrowserAnswer> {
  const address = returnAddress(session, sessionStatus(session, services.clock.now()));
  if (address !== undefined) return redirect(services.outbound.browserUrl(address));
  const accounts = await linkedAccounts(services.stores.connections, session);
  const look = lookOf(services.config, request, session);
  const page = { ...look, notice: "allSet", back: null, accounts } as const;
  return pageAnswer(200, (nonce) => renderNotice(page, nonce));
}

/** Says that the window can be closed, with a link to the page of the session, which stays open. */
export function paused(
  config: Config,
  request: BrowserRequest,
  { session, token }: OpenVisit,
): BrowserAnswer {
  const goOn = pageAddress(config, session.id, token);
  const look = lookOf(config, request, session);
  const page = { ...look, notice: "paused", back: null, goOn } as const;
  return pageAnswer(200, (nonce) => renderNotice(page, nonce));
}

/** An account that was linked, as an end page lists it. */
interface LinkedName {
  readonly network: NetworkName;
  readonly title: string;
  readonly name: string;
}

async function linkedAccounts(
  connections: ConnectionStore,
  session: ConnectSession,
): Promise<readonly LinkedName[]> {
  const ids = linkedIds(session);
  if (ids.length === 0) return [];
  const made = await connections.listOfProfile(session);
  return made
    .filter(({ id, status }) => ids.includes(id) && status !== "revoked")
    .map(({ network, account: { username, displayName } }) => {
      const name = displayName === "" ? username : displayName;
      return { network, title: networkOf(network).title, name };
    });
}

/** Answers with a page for a visit whose session is unknown or must not be shown. */
export function plainNotice(
  config: Config,
  request: BrowserRequest,
  notice: NoticeName,
  status: number,
): BrowserAnswer {
  const page = { ...lookOf(config, request), notice, back: null };
  return pageAnswer(status, (nonce) => renderNotice(page, nonce));
}

/** Refuses a form that did not come from our page. Nothing was changed. */
export function foreignForm(config: Config, request: BrowserRequest): BrowserAnswer {
  return plainNotice(config, request, "foreign", 403);
}

export type NoticeName = keyof Words["notices"];

export interface PageNotice {
  readonly language: Language;
  readonly notice: NoticeName;
  /** The page of the platform to return to, or null if unknown. */
  readonly back: string | null;
  /** The page of the session, if it is still open. */
  readonly goOn?: string;
  readonly branding: Branding;
  readonly accounts?: readonly LinkedName[];
  /** The id of the log entry about what happened. */
  readonly requestId?: string;
}

export function renderNotice(page: PageNotice, nonce: string): string {
  const { language, notice, back, goOn, branding, accounts = [], requestId = "" } = page;
  const words = languageWords(language);
  const { title, text } = words.notices[notice];
  const named = { id: plainName(requestId), ...brandWords(branding, language) };
  const body = html`<div class="card">
    ${notice === "allSet" && html`<p class="seal">${CHECK}</p>`}
    <h1>${title}</h1>
    <p>${fill(text, named)}</p>
    ${accounts.length > 0 && renderAccounts(accounts, words)}
    ${back !== null && renderLink(back, backLabel(branding, language, words.page.back))}
    ${goOn !== undefined && renderLink(goOn, html`${words.page.goOn}`)}
  </div>`;
  return layout({ language, nonce, branding, title, body });
}

function renderLink(address: string, label: Markup): Markup {
  return html`<div class="actions">
    <a class="button" href="${address}" rel="noreferrer"><span>${label}</span></a>
  </div>`;
}

function renderAccounts(accounts: readonly LinkedName[], words: Words): Markup {
  const items = accounts.map(
    ({ network, title, name }) =>
      html`<li class="line">
        ${networkMark(network, title)}<span class="name">${isolatedName(name)}</span
        ><span class="state is-good">${CHECK}<span>${words.card.linked}</span></span
        ><span class="state handle">${title}</span>
      </li>`,
  );
  return html`<ul class="linked" aria-label="${words.page.accounts}">
    ${items}
  </ul>`;
}

/** Runs a step and answers with a page even if it throws. The page shows the id under which the error is logged. */
export async function browserStep(
  services: ConnectionsDeps,
  request: BrowserRequest,
  step: () => Promise<BrowserAnswer>,
): Promise<BrowserAnswer> {
  const { requestId } = request;
  try {
    return await step();
  } catch (error) {
    const known = error instanceof AppError ? error : undefined;
    const status =
      known?.code === "rate_limited" ? 429 : known?.code === "service_unavailable" ? 503 : 500;
    const notice = status === 500 ? "failure" : "outage";
    const page = { ...lookOf(services.config, request), back: null, requestId, notice } as const;
    const answer = pageAnswer(status, (nonce) => renderNotice(page, nonce));
    const wait = ["retry-after", String(known?.retryAfterSeconds ?? 1)] as const;
    const headers = status === 500 ? answer.headers : [...answer.headers, wait];
    return { ...answer, headers, refusal: error };
  }
}
