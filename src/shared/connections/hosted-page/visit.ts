import type { ConnectionsDeps } from "../deps.ts";
import {
  formTargets,
  pageAnswer,
  redirect,
  type BrowserAnswer,
  type BrowserRequest,
} from "./browser.ts";
import {
  isTokenOf,
  returnAddress,
  sessionStatus,
  type ConnectSession,
} from "../connect-session.ts";
import { renderNotice, type NoticeName } from "./notice.ts";

/** A browser with a session's address. `over`: the token is right, but nothing can be linked any more. */
export type Visit =
  | { readonly kind: "open"; readonly session: ConnectSession; readonly token: string }
  | { readonly kind: "over"; readonly session: ConnectSession }
  | { readonly kind: "unknown" };

export type OpenVisit = Pick<Extract<Visit, { kind: "open" }>, "session" | "token">;

const ADDRESS_PART_MAX = 200;

export async function openVisit(
  services: ConnectionsDeps,
  fields: Readonly<Record<string, string>>,
): Promise<Visit> {
  const id = (fields["session"] ?? "").slice(0, ADDRESS_PART_MAX);
  const token = (fields["token"] ?? "").slice(0, ADDRESS_PART_MAX);
  const session = await services.connectSessions.find(id);
  if (session === undefined || !isTokenOf(session, token)) return { kind: "unknown" };
  const status = sessionStatus(session, services.clock.now());
  return status === "open" ? { kind: "open", session, token } : { kind: "over", session };
}

/** The page for a visit that leads no further: what is wrong, and the way back where one is known. */
export function deadEnd(
  services: ConnectionsDeps,
  request: BrowserRequest,
  session: ConnectSession | undefined,
): BrowserAnswer {
  if (session === undefined) return loneNotice(request, "unknown", 404);
  const now = services.clock.now();
  const { language } = request;
  const { branding } = session;
  const address = returnAddress(session, now);
  const back = address === undefined ? null : services.outbound.browserUrl(address);
  const page = { language, notice: sessionStatus(session, now), back, branding };
  return pageAnswer(410, (nonce) => renderNotice(page, nonce));
}

/** The end of a visit: back to the platform's own page, or word that the window can be closed. */
export function leave(
  services: ConnectionsDeps,
  { language }: BrowserRequest,
  session: ConnectSession,
): BrowserAnswer {
  const address = returnAddress(session, services.clock.now());
  if (address !== undefined) return redirect(services.outbound.browserUrl(address));
  const { branding } = session;
  const notice = session.status === "completed" ? "allSet" : "nothing";
  const page = { language, notice, back: null, branding } as const;
  const render = (nonce: string) => renderNotice(page, nonce);
  return pageAnswer(200, render, formTargets(services, undefined));
}

/** A page about a visit of which no session is known, or may be told. */
export function loneNotice(
  { language }: BrowserRequest,
  notice: NoticeName,
  status: number,
): BrowserAnswer {
  const page = { language, notice, back: null, branding: {} };
  return pageAnswer(status, (nonce) => renderNotice(page, nonce));
}

/** A form that did not come from our page: nothing was done with it. */
export function foreignForm(request: BrowserRequest): BrowserAnswer {
  return loneNotice(request, "foreign", 403);
}
