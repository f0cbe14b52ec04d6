import type { Config } from "../../runtime/config.ts";
import type { Language } from "./language.ts";
import { equalSecrets, randomToken, sha256Hex } from "../../runtime/secrets.ts";
import type { ConnectionsDeps } from "../deps.ts";
import type { ConnectSession } from "../connect-session.ts";
import type { NetworkName } from "../../networks/lookup.ts";

type Headers = readonly (readonly [string, string])[];

/** What a step of the hosted page answers to a browser. */
export interface BrowserAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body?: string;
}

/** What a step may know of the browser's request. */
export interface BrowserRequest {
  readonly requestId: string;
  readonly ip: string;
  readonly cookie: string | null;
  /** The name under which the browser reached us; needed on a developer's machine alone. */
  readonly host?: string | null;
  /** `Sec-Fetch-Site`; browsers set it, pages can't. */
  readonly fetchSite: string | null;
  /** Of the pages that it is answered. */
  readonly language: Language;
}

const COOKIE_VALUE = /^[\w-]{43}$/;

/** Returns the cookie's name. A `__Host-` cookie can't be set by another host of the same site, but exists over https alone. */
function cookieName(config: Config): string {
  return config.publicBaseUrl.startsWith("https:") ? "__Host-cx" : "cx";
}

/** Returns the id that the browser's cookie carries, when it has one. */
export function readBrowserId(config: Config, request: BrowserRequest): string | undefined {
  const prefix = `${cookieName(config)}=`;
  const pairs = (request.cookie ?? "").split(";").map((pair) => pair.trim());
  const value = pairs.find((pair) => pair.startsWith(prefix))?.slice(prefix.length);
  return value !== undefined && COOKIE_VALUE.test(value) ? value : undefined;
}

/** Makes an id for a browser that has none. */
export const newBrowserId = () => randomToken();
/** Returns what is stored of a browser's id. */
export const hashBrowserId = (id: string) => sha256Hex(id);

/** Tells whether this is the browser whose cookie has that hash. */
export function isSameBrowser(
  config: Config,
  request: BrowserRequest,
  cookieHash: string,
): boolean {
  const id = readBrowserId(config, request);
  if (id === undefined) return false;
  return equalSecrets(Buffer.from(hashBrowserId(id)), Buffer.from(cookieHash));
}

/** Returns the header that sets the cookie. SameSite=Lax: it has to be sent when the network's page leads back to ours. */
export function browserCookie(config: Config, id: string): readonly [string, string] {
  const secure = config.publicBaseUrl.startsWith("https:") ? "; Secure" : "";
  return ["set-cookie", `${cookieName(config)}=${id}; Path=/; HttpOnly; SameSite=Lax${secure}`];
}

/** Tells whether another site sent the form with the user's browser. Clients that are no browsers send no such header. */
export function isForeign({ fetchSite }: BrowserRequest): boolean {
  return fetchSite !== null && fetchSite !== "same-origin" && fetchSite !== "none";
}

/** Leads the browser to another address. */
export function redirect(location: string, headers: Headers = []): BrowserAnswer {
  return { status: 303, headers: [["location", location], ...headers] };
}

/** Where the forms of a page lead beside our own pages. `any`: to a server that the end user names. */
export type AwayTo = readonly string[] | "any";

/**
 * Returns where forms of the page may end up: browsers apply `form-action` to the redirects after a form, too, so it names the
 * platform's site and, where an account is linked at a network's own page, that network's.
 */
export function formTargets(
  services: ConnectionsDeps,
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

/** Answers with a page under a policy that lets nothing run and nothing load but its own style and pictures. */
export function pageAnswer(
  status: number,
  render: (nonce: string) => string,
  targets: readonly string[] = ["'self'"],
): BrowserAnswer {
  const nonce = randomToken(16);
  const policy = [
    "default-src 'none'",
    "script-src 'none'",
    `style-src 'nonce-${nonce}'`,
    "img-src https: data:",
    `form-action ${targets.join(" ")}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");
  return {
    status,
    headers: [
      ["content-type", "text/html; charset=utf-8"],
      ["content-security-policy", policy],
      ["x-frame-options", "DENY"],
      // The token of the session is in the page's address.
      ["referrer-policy", "no-referrer"],
      ["cross-origin-opener-policy", "same-origin"],
      ["cross-origin-resource-policy", "same-origin"],
      ["cache-control", "no-store"],
    ],
    body: render(nonce),
  };
}

/** Returns the address of a session's hosted page; who has this address may link accounts in it. */
export function pageAddress(
  config: Config,
  sessionId: string,
  token: string,
  more: Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams({ session: sessionId, token, ...more });
  return `${config.publicBaseUrl}/v1/connect/ui?${query.toString()}`;
}

/** Returns where the page's forms go to: a network's name, or `done`. */
export function stepAddress(config: Config, step: NetworkName | "done"): string {
  return `${config.publicBaseUrl}/v1/connect/ui/${step}`;
}

/** Returns where a network leads back to. It is registered there, so it is constant and exact. */
export function callbackAddress(config: Config, network: string): string {
  return `${config.publicBaseUrl}/v1/connect/callback/${network}`;
}

/**
 * Returns the callback's address under our own name. Some networks lead back to the number behind `localhost` alone,
 * where the browser's cookie is not sent. Undefined when the browser is there already, as it always is with https.
 */
export function callbackAtHome(
  config: Config,
  host: string | null,
  callback: { readonly network: string; readonly params: Readonly<Record<string, string>> },
): string | undefined {
  const isLocal = config.publicBaseUrl.startsWith("http://localhost");
  if (!isLocal || !/^127\.0\.0\.1(?::\d+)?$/.test(host ?? "")) return undefined;
  const query = new URLSearchParams(callback.params).toString();
  return `${callbackAddress(config, callback.network)}?${query}`;
}
