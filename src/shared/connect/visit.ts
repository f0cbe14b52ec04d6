import type { Services } from "../services.ts";
import { formTargets, pageAnswer, redirect, type BrowserAnswer } from "./browser.ts";
import {
  isTokenOf,
  returnAddress,
  sessionStatus,
  type ConnectSession,
  type SessionStatus,
} from "./connect-session.ts";
import { renderNotice } from "./page.ts";

/** A browser with a session's address. `over`: the token is right, but nothing can be linked any more. */
export type Visit =
  | { readonly kind: "open"; readonly session: ConnectSession; readonly token: string }
  | { readonly kind: "over"; readonly session: ConnectSession }
  | { readonly kind: "unknown" };

export type OpenVisit = Pick<Extract<Visit, { kind: "open" }>, "session" | "token">;

const ADDRESS_PART_MAX = 200;

export async function openVisit(
  services: Services,
  fields: Readonly<Record<string, string>>,
): Promise<Visit> {
  const id = (fields["session"] ?? "").slice(0, ADDRESS_PART_MAX);
  const token = (fields["token"] ?? "").slice(0, ADDRESS_PART_MAX);
  const session = await services.connectSessions.find(id);
  if (session === undefined || !isTokenOf(session, token)) return { kind: "unknown" };
  const status = sessionStatus(session, services.clock.now());
  return status === "open" ? { kind: "open", session, token } : { kind: "over", session };
}

const OVER: Readonly<Record<SessionStatus, { readonly title: string; readonly text: string }>> = {
  completed: {
    title: "You are done here",
    text: "This page was used already and your accounts are connected. To connect others, start again where you came from.",
  },
  canceled: {
    title: "This was canceled",
    text: "Nothing more can be connected on this page. To go on, start again where you came from.",
  },
  expired: {
    title: "This page has expired",
    text: "It was open for too long. Accounts that were connected stay connected; for others, start again where you came from.",
  },
  open: {
    title: "This can't be done now",
    text: "Accounts can't be connected for you at the moment. Please ask the service that sent you here.",
  },
};

/** The page for a visit that leads no further: what is wrong, and the way back where one is known. */
export function deadEnd(services: Services, session: ConnectSession | undefined): BrowserAnswer {
  if (session === undefined) {
    const title = "This link does not work";
    const text =
      "It may be incomplete or out of date. Go back to the service that sent you here and start again.";
    return pageAnswer(404, (nonce) =>
      renderNotice({ title, text, back: null, branding: {} }, nonce),
    );
  }
  const now = services.clock.now();
  const notice = OVER[sessionStatus(session, now)];
  const address = returnAddress(session, now);
  const back = address === undefined ? null : services.outbound.browserUrl(address);
  const { branding } = session;
  return pageAnswer(410, (nonce) => renderNotice({ ...notice, back, branding }, nonce));
}

/** The end of a visit: back to the platform's own page, or word that the window can be closed. */
export function leave(services: Services, session: ConnectSession): BrowserAnswer {
  const address = returnAddress(session, services.clock.now());
  if (address !== undefined) return redirect(services.outbound.browserUrl(address));
  const { branding } = session;
  const isDone = session.status === "completed";
  const title = isDone ? "All set" : "Nothing was connected";
  const text = isDone
    ? "Your accounts are connected. You can close this window."
    : "You left without connecting an account. You can close this window.";
  const render = (nonce: string) => renderNotice({ title, text, back: null, branding }, nonce);
  return pageAnswer(200, render, formTargets(services, undefined));
}

/** A form that did not come from our page: nothing was done with it. */
export function foreignForm(): BrowserAnswer {
  const title = "This did not come from our page";
  const text =
    "For your safety nothing was done. Open the link you were given again and go on from there.";
  return pageAnswer(403, (nonce) => renderNotice({ title, text, back: null, branding: {} }, nonce));
}
