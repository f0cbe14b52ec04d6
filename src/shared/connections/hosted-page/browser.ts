import type { Config } from "../../config/config.ts";
import type { Language } from "./language.ts";
import { cookieOf, ownCookie, ownCookieName } from "../../runtime/cookies.ts";
import { equalSecrets, randomToken, sha256Hex } from "../../runtime/secrets.ts";
import type { CheckedTokens } from "../../runtime/checked-tokens.ts";
import type { ConnectionsDeps } from "../deps.ts";
import type { ConnectSession } from "../connect-session.ts";
import type { NetworkName } from "../../networks/networks.ts";

type HeaderList = readonly (readonly [string, string])[];

export interface BrowserAnswer {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body?: string;
  /** The error that the page tells of, if it is not one of what the person typed. The request's log line names it. */
  readonly refusal?: unknown;
}

/** The part of the browser's request that a step may read. */
export interface BrowserRequest {
  readonly requestId: string;
  readonly ip: string;
  readonly cookie: string | null;
  /** The host name in the browser's request. It is only used on a developer's machine. */
  readonly host?: string | null;
  /** The `Sec-Fetch-Site` header. Browsers set it; pages can't. */
  readonly fetchSite: string | null;
  readonly language: Language;
}

const COOKIE_VALUE = /^[\w-]{43}$/;

const COOKIE = "cx";

/** Returns the id in the browser's cookie, whether we issued it or not. */
export function readBrowserId(
  { publicBaseUrl }: Config,
  { cookie }: Pick<BrowserRequest, "cookie">,
): string | undefined {
  const value = cookieOf(cookie, ownCookieName(publicBaseUrl, COOKIE));
  return value !== undefined && COOKIE_VALUE.test(value) ? value : undefined;
}

export type BrowserDeps = Pick<ConnectionsDeps, "config" | "linking">;

const BROWSER = "browser";

export const newBrowserId = (linkTokens: CheckedTokens) => linkTokens.make(BROWSER);

/** Returns the id that this service gave the browser, if any. */
export function browserIdOf(
  { config, linking }: BrowserDeps,
  request: BrowserRequest,
): string | undefined {
  const id = readBrowserId(config, request);
  return id !== undefined && linking.linkTokens.isOurs(id, BROWSER) ? id : undefined;
}

export const hashBrowserId = (id: string) => sha256Hex(id);

export function isSameBrowser(
  services: BrowserDeps,
  request: BrowserRequest,
  cookieHash: string,
): boolean {
  const id = browserIdOf(services, request);
  if (id === undefined) return false;
  return equalSecrets(Buffer.from(hashBrowserId(id)), Buffer.from(cookieHash));
}

/** Returns the header that sets the cookie. SameSite=Lax sends it when the network's page leads back to ours. */
export const browserCookie = ({ publicBaseUrl }: Config, id: string) =>
  ownCookie(publicBaseUrl, COOKIE, id, "SameSite=Lax");

/** Reports whether another site sent the form with the user's browser. Other clients don't send this header. */
export function isForeign({ fetchSite }: BrowserRequest): boolean {
  return fetchSite !== null && fetchSite !== "same-origin" && fetchSite !== "none";
}

export function redirect(location: string, headers: HeaderList = []): BrowserAnswer {
  return { status: 303, headers: [["location", location], ...headers] };
}

/** Origins, besides our own, that a page's forms may lead to. `any`: a server that the end user names. */
export type AwayTo = readonly string[] | "any";

/**
 * Returns the origins that forms of the page may lead to. Browsers apply `form-action` also to redirects after a form,
 * so it includes the platform's site and the site of a network that has a page of its own.
 */
export function formTargets(
  services: Pick<ConnectionsDeps, "config" | "outbound">,
  session: ConnectSession | undefined,
  away: AwayTo = [],
): string[] {
  const { config, outbound } = services;
  const originOf = (url: string) => new URL(outbound.browserUrl(url)).origin;
  const targets = new Set(["'self'", new URL(config.publicBaseUrl).origin]);
  if (session === undefined) return [...targets];
  if (session.returnUrl !== null) targets.add(originOf(session.returnUrl));
  const named =
    away === "any" ? ["https:", ...Object.values(config.outbound.hostMap)] : away.map(originOf);
  for (const target of named) targets.add(target);
  return [...targets];
}

/** A source that can't end its directive or the list that it is in, whatever a caller's address had in it. */
const SOURCE = /^(?:'self'|https:|https?:\/\/[a-z0-9.-]+(?::\d{1,5})?)$/;

function checkSources(sources: readonly string[]): void {
  const wrong = sources.find((source) => !SOURCE.test(source));
  if (wrong !== undefined) throw new Error(`no source for a policy: ${JSON.stringify(wrong)}`);
}

/** Answers with a page. Its policy allows no script, and only its own style and images. */
export function pageAnswer(
  status: number,
  render: (nonce: string) => string,
  targets: readonly string[] = ["'self'"],
): BrowserAnswer {
  checkSources(targets);
  const nonce = randomToken(16);
  // The first directive of a name counts, so what protects the page comes before what is made from addresses.
  const policy = [
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "default-src 'none'",
    "script-src 'none'",
    `style-src 'nonce-${nonce}'`,
    "img-src https: data:",
    `form-action ${targets.join(" ")}`,
  ].join("; ");
  return {
    status,
    headers: [
      ["content-type", "text/html; charset=utf-8"],
      ["content-security-policy", policy],
      ["x-frame-options", "DENY"],
      // The page's address contains the session's token.
      ["referrer-policy", "no-referrer"],
      ["cross-origin-opener-policy", "same-origin"],
      ["cross-origin-resource-policy", "same-origin"],
      ["cache-control", "no-store"],
    ],
    body: render(nonce),
  };
}

/** Returns the address of a session's hosted page. Anyone who has it may link accounts in the session. */
export function pageAddress(
  config: Config,
  sessionId: string,
  token: string,
  more: Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams({ session: sessionId, token, ...more });
  return `${config.publicBaseUrl}/v1/connect/ui?${query.toString()}`;
}

export function stepAddress(config: Config, step: NetworkName | "done"): string {
  return `${config.publicBaseUrl}/v1/connect/ui/${step}`;
}

/** A callback's path: the network, and its server if each server has a callback of its own. */
export interface CallbackPath {
  readonly network: string;
  /** In the form of `serverSegment`. */
  readonly server?: string | undefined;
}

/** Returns the address that a network leads back to. It is registered there, so it must never change. */
export function callbackAddress(config: Config, { network, server }: CallbackPath): string {
  const base = `${config.publicBaseUrl}/v1/connect/callback/${network}`;
  return server === undefined ? base : `${base}/${server}`;
}

/**
 * Returns the callback's address under our own host name. Some networks lead back to the IP address of `localhost`,
 * where the browser doesn't send the cookie. Undefined when the browser is there already, as always with https.
 */
export function callbackAtHome(
  config: Config,
  host: string | null,
  callback: CallbackPath & { readonly params: Readonly<Record<string, string>> },
): string | undefined {
  const isLocal = config.publicBaseUrl.startsWith("http://localhost");
  if (!isLocal || !/^127\.0\.0\.1(?::\d+)?$/.test(host ?? "")) return undefined;
  const query = new URLSearchParams(callback.params).toString();
  return `${callbackAddress(config, callback)}?${query}`;
}
