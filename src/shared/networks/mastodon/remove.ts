import { exchange, isProxyPage } from "../contract/answers.ts";
import { removal } from "../contract/removal.ts";
import { classify } from "./errors.ts";
import { apiGet, credentialsOf } from "./state.ts";

/**
 * Deletes the status with its files (the parameter is there since 4.4 and ignored before). The server looks among the
 * account's own statuses alone, so that one it does not find is gone (`destroy` in
 * `app/controllers/api/v1/statuses_controller.rb` of mastodon/mastodon).
 */
export const remove = removal({
  send({ leg }, tools) {
    const path = `statuses/${encodeURIComponent(leg.externalId)}?delete_media=true`;
    return exchange(tools, { ...apiGet(credentialsOf(leg.credentials), path), method: "DELETE" });
  },
  isGone: (answer) =>
    answer.status === 200 || ([404, 410].includes(answer.status) && !isProxyPage(answer)),
  // At 30 deletions in 30 minutes: the answer says when the next one may come.
  classify: (answer, _call, tools) => classify(answer, tools.now()),
});
