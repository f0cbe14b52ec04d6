import { exchange, isProxyPage } from "../contract/answers.ts";
import { removal } from "../contract/removal.ts";
import { restMethod } from "./request.ts";
import { classifyFor } from "./session.ts";
import { type Call, steps } from "./state.ts";

/** Deletes the post. A post that is gone is answered with 204, too ("Delete Posts" of the Posts API). */
const deletion = removal({
  send(call: Call) {
    const path = `posts/${encodeURIComponent(call.externalId)}`;
    return exchange(call.tools, restMethod(path, "DELETE", call));
  },
  isGone: (answer) => answer.status === 204 || (answer.status === 404 && !isProxyPage(answer)),
  classify: classifyFor,
});

export const remove = steps.following(deletion);
