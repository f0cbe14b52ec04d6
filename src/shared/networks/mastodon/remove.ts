import { HttpFailure, type HttpResponse } from "../../runtime/http-call.ts";
import { exchange, isProxyPage, readMade } from "../contract/answers.ts";
import type { Outcome } from "../contract/outcome.ts";
import { notRemoved, REMOVED, repeatable } from "../contract/removal.ts";
import { classify } from "./errors.ts";
import { apiGet, type Call, steps } from "./state.ts";

/**
 * Deletes the status with its files (with a parameter that exists since 4.4 and was ignored before). After 30 deletions
 * in 30 minutes, the answer says when the next one may come.
 */
export const remove = steps.following({
  async perform(call) {
    const request = apiGet(call.credentials, statusPath(call));
    const url = `${request.url}?delete_media=true`;
    const answer = await exchange(call.tools, { ...request, method: "DELETE", url });
    if (answer instanceof HttpFailure) return notRemoved(answer);
    if (answer.status === 200) return REMOVED;
    return answer.status === 404 || answer.status === 410
      ? afterNotFound(answer, call)
      : notRemoved(classify(answer, call.tools.now()));
  },
  find: repeatable,
});

/**
 * Interprets an answer that a status was not found. Mastodon searches only the account's own statuses, so it is gone
 * (`destroy` in `app/controllers/api/v1/statuses_controller.rb` of mastodon/mastodon). Other servers may have no
 * deletions and answer with a page as a proxy would (snac).
 */
async function afterNotFound(answer: HttpResponse, call: Call): Promise<Outcome> {
  const isPage = isProxyPage(answer);
  const classified = classify(answer, call.tools.now());
  if (call.credentials.software === "mastodon") return isPage ? notRemoved(classified) : REMOVED;
  if (await answersWithId(statusPath(call), call))
    return notRemoved({ ...classified, code: "feature_unsupported", effect: "refuse" });
  const speaksItself = !isPage || (await answersWithId(OWN_ACCOUNT, call));
  return speaksItself ? REMOVED : notRemoved(classified);
}

const OWN_ACCOUNT = "accounts/verify_credentials";

function statusPath({ externalId }: Call): string {
  return `statuses/${encodeURIComponent(externalId)}`;
}

async function answersWithId(path: string, { credentials, tools }: Call) {
  const answer = await exchange(tools, apiGet(credentials, path));
  return !(answer instanceof HttpFailure) && readMade(answer) !== undefined;
}
