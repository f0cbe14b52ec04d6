import * as z from "zod";
import { exchange, unanswered, unpublished } from "../contract/classified.ts";
import { graphGet } from "../graph/request.ts";
import type { HttpResponse } from "../../runtime/http-call.ts";
import type { Upkeep } from "../contract/network.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { classify } from "./errors.ts";
import { credentialsOf, pageAccess } from "./state.ts";

/** A page's token has no end, and nothing tells that it was taken back but a call. */
export const facebookUpkeep: Upkeep = {
  idleDaysMax: 3,
  async look({ credentials }, tools) {
    const known = credentialsOf(credentials);
    const request = graphGet(pageAccess(known, tools), known.pageId, { fields: "id" });
    const answer = await exchange(tools, request);
    if (answer instanceof HttpFailure) return unanswered(answer);
    return isSeen(answer) ? { kind: "usable" } : unpublished(classify(answer, tools.now()));
  },
};

/** A page that somebody put in between has a 200 too. */
function isSeen(answer: HttpResponse): boolean {
  const shape = z.object({ id: z.coerce.string().min(1) });
  return answer.status === 200 && shape.safeParse(answer.json()).success;
}
