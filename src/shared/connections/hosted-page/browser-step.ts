import { AppError } from "../../runtime/errors.ts";
import type { ConnectionsDeps } from "../deps.ts";
import { pageAnswer, type BrowserAnswer, type BrowserRequest } from "./browser.ts";
import { renderNotice } from "./notice.ts";

/** A browser gets a page whatever happens; the error itself goes to the log, under the id that the page shows. */
export async function browserStep(
  services: ConnectionsDeps,
  request: BrowserRequest,
  step: () => Promise<BrowserAnswer>,
): Promise<BrowserAnswer> {
  const { requestId, language } = request;
  try {
    return await step();
  } catch (error) {
    const isOutage = error instanceof AppError && error.code === "service_unavailable";
    services.log.error("a step of the hosted page failed", { requestId, error });
    const page = { language, back: null, branding: {}, requestId };
    const notice = isOutage ? "outage" : "failure";
    return pageAnswer(isOutage ? 503 : 500, (nonce) => renderNotice({ ...page, notice }, nonce));
  }
}
