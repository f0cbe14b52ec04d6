import { exchange, isProxyPage } from "../contract/answers.ts";
import { removal } from "../contract/removal.ts";
import { restRequest } from "./request.ts";
import { classifyFor } from "./session.ts";
import { credentialsOf } from "./state.ts";

/** Deletes the post. A post that is gone is answered with 204, too ("Delete Posts" of the Posts API). */
export const remove = removal({
  send({ leg }, tools) {
    const path = `posts/${encodeURIComponent(leg.externalId)}`;
    const { headers, ...request } = restRequest(path, credentialsOf(leg.credentials), tools);
    return exchange(tools, {
      ...request,
      method: "DELETE",
      headers: { ...headers, "x-restli-method": "DELETE" },
    });
  },
  isGone: (answer) => answer.status === 204 || (answer.status === 404 && !isProxyPage(answer)),
  classify: (answer, { leg }, tools) => classifyFor(answer, credentialsOf(leg.credentials), tools),
});
