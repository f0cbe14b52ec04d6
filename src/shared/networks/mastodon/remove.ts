import { HttpFailure, type HttpResponse } from "../../runtime/http-call.ts";
import { exchange, isProxyPage, readId } from "../contract/answers.ts";
import type { FollowUp, FollowUpCall } from "../contract/network.ts";
import type { FollowUpOutcome } from "../contract/outcome.ts";
import { notRemoved, REMOVED, repeatable } from "../contract/removal.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { classify } from "./errors.ts";
import { apiGet, credentialsOf } from "./state.ts";

/**
 * Deletes the status with its files (the parameter is there since 4.4 and ignored before). At 30 deletions in 30 minutes
 * the answer says when the next one may come.
 */
export const remove: FollowUpCall = {
  async perform(call, tools) {
    const request = apiGet(credentialsOf(call.leg.credentials), statusPath(call));
    const url = `${request.url}?delete_media=true`;
    const answer = await exchange(tools, { ...request, method: "DELETE", url });
    if (answer instanceof HttpFailure) return notRemoved(answer);
    if (answer.status === 200) return REMOVED;
    return isNotFound(answer)
      ? afterNotFound(answer, call, tools)
      : notRemoved(classify(answer, tools.now()));
  },
  lookUp: repeatable,
};

const isNotFound = ({ status }: HttpResponse) => status === 404 || status === 410;

/**
 * Returns what it means that a status was not found. Mastodon looks among the account's own statuses alone, so that it is
 * gone (`destroy` in `app/controllers/api/v1/statuses_controller.rb` of mastodon/mastodon). Other servers may know no
 * deletions, and say it by a page as one in front of them would (snac).
 */
async function afterNotFound(
  answer: HttpResponse,
  call: FollowUp,
  tools: NetworkTools,
): Promise<FollowUpOutcome> {
  const { software } = credentialsOf(call.leg.credentials);
  const isPage = isProxyPage(answer);
  const classified = classify(answer, tools.now());
  if (software === "mastodon") return isPage ? notRemoved(classified) : REMOVED;
  if (await answersWithId(statusPath(call), call, tools))
    return notRemoved({ ...classified, code: "feature_unsupported", effect: "refuse" });
  const speaksItself = !isPage || (await answersWithId(OWN_ACCOUNT, call, tools));
  return speaksItself ? REMOVED : notRemoved(classified);
}

const OWN_ACCOUNT = "accounts/verify_credentials";

function statusPath({ leg }: FollowUp): string {
  return `statuses/${encodeURIComponent(leg.externalId)}`;
}

async function answersWithId(path: string, { leg }: FollowUp, tools: NetworkTools) {
  const answer = await exchange(tools, apiGet(credentialsOf(leg.credentials), path));
  return !(answer instanceof HttpFailure) && answer.status === 200 && readId(answer) !== undefined;
}
