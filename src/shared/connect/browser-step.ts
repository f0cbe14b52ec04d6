import { AppError } from "../errors.ts";
import type { Services } from "../services.ts";
import { pageAnswer, type BrowserAnswer } from "./browser.ts";
import { renderNotice } from "./page.ts";

/** A browser gets a page whatever happens; the error itself goes to the log, under the id that the page shows. */
export async function browserStep(
  services: Services,
  requestId: string,
  step: () => Promise<BrowserAnswer>,
): Promise<BrowserAnswer> {
  try {
    return await step();
  } catch (error) {
    const isOutage = error instanceof AppError && error.code === "service_unavailable";
    services.log.error("a step of the hosted page failed", { requestId, error });
    const title = isOutage ? "Please try again" : "Something went wrong";
    const text = isOutage
      ? "We could not do this right now. Reload the page in a minute; nothing is lost."
      : `This is our fault and was recorded (${requestId}). Open the link you were given again to see what is connected.`;
    const status = isOutage ? 503 : 500;
    const notice = { title, text, back: null, branding: {} };
    return pageAnswer(status, (nonce) => renderNotice(notice, nonce));
  }
}
