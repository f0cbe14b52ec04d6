import { exchange, isProxyPage } from "../contract/answers.ts";
import { removal } from "../contract/removal.ts";
import { NO_API } from "./errors.ts";
import { restMethod } from "./request.ts";
import { classifyFor } from "./session.ts";
import { type Call, steps } from "./state.ts";

/** Deletes the post. For a post that is already gone, the answer is 204 too ("Delete Posts" of the Posts API). */
const deletion = removal({
  send(call: Call) {
    const path = `posts/${encodeURIComponent(call.externalId)}`;
    return exchange(call.tools, restMethod(path, "DELETE", call));
  },
  isGone(answer) {
    const isOfPost = !isProxyPage(answer) && !NO_API.test(answer.text().slice(0, 2000));
    return answer.status === 204 || (answer.status === 404 && isOfPost);
  },
  classify: classifyFor,
});

export const remove = steps.following(deletion);
