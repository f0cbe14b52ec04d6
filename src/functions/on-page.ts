import type { BrowserAnswer, BrowserRequest } from "../shared/connections/connections.ts";
import type { Reply } from "../shared/http/reply.ts";
import type { RefusedCall } from "../shared/http/route.ts";
import type { AppError } from "../shared/runtime/errors.ts";
import type { BrowserCall, connectPage } from "./connect-page.ts";

const loadConnectPage = async () => (await import("./connect-page.ts")).connectPage;

/** Makes the verb of a route that runs a step of the hosted page. */
export function onPage<Call extends BrowserCall>(
  step: (steps: typeof connectPage, request: BrowserRequest, call: Call) => Promise<BrowserAnswer>,
): (call: Call) => Promise<Reply> {
  return async (call) => {
    const steps = await loadConnectPage();
    return await steps.asPage(call, (request) => step(steps, request, call));
  };
}

/** Answers a refused request of a browser with a page, too. */
export const refusedConnectPage = async (error: AppError, call: RefusedCall): Promise<Reply> =>
  (await loadConnectPage()).asRefusedPage(error, call);
