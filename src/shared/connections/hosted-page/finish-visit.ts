import type { ConnectionsDeps } from "../deps.ts";
import { isForeign, type BrowserAnswer, type BrowserRequest } from "./browser.ts";
import { linkedIds, sessionStatus } from "../connect-session.ts";
import { connectPage } from "./show-page.ts";
import { deadEnd, foreignForm, leave, openVisit } from "./visit.ts";

/**
 * POST of the page's last form. "Done" completes the session when an account is linked, "cancel" ends it; both lead
 * back to the platform. Pressed again they lead there again.
 */
export async function finishVisit(
  services: ConnectionsDeps,
  request: BrowserRequest,
  fields: Readonly<Record<string, string>>,
): Promise<BrowserAnswer> {
  if (isForeign(request)) return foreignForm(request);
  const visit = await openVisit(services, fields);
  if (visit.kind === "unknown") return deadEnd(services, request, undefined);
  if (visit.kind === "over") return end(services, request, visit.session.id);
  const isCancel = fields["action"] === "cancel";
  const now = services.clock.now();
  const ended = await services.connectSessions.change(visit.session.id, (current) => {
    if (sessionStatus(current, now) !== "open") return undefined;
    if (linkedIds(current).length > 0) return { ...current, status: "completed" };
    return isCancel ? { ...current, status: "canceled" } : undefined;
  });
  if (ended !== undefined) return leave(services, request, ended);
  const after = await services.connectSessions.find(visit.session.id);
  if (after === undefined || sessionStatus(after, now) !== "open")
    return end(services, request, visit.session.id);
  const told = { kind: "general", problem: "nothing_linked" } as const;
  return await connectPage(services, request, visit, { status: 422, told });
}

/** Of a session that was ended before: back to the platform where it was the end user who ended it. */
async function end(
  services: ConnectionsDeps,
  request: BrowserRequest,
  sessionId: string,
): Promise<BrowserAnswer> {
  const session = await services.connectSessions.find(sessionId);
  return session?.status === "completed"
    ? leave(services, request, session)
    : deadEnd(services, request, session);
}
