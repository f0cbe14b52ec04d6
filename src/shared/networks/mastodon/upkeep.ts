import * as z from "zod";
import { exchange, unanswered, unpublished } from "../contract/classified.ts";
import type { HttpResponse } from "../../runtime/http-call.ts";
import type { Upkeep } from "../contract/network.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { classify } from "./errors.ts";
import { findInstance } from "./instance.ts";
import { credentialsOf, requestHeaders } from "./state.ts";

/** Tokens last until they are revoked, and nothing tells but a call. */
export const mastodonUpkeep: Upkeep = {
  idleDaysMax: 3,
  async look({ credentials }, tools) {
    const known = credentialsOf(credentials);
    const answer = await exchange(tools, {
      method: "GET",
      url: `${known.origin}/api/v1/accounts/verify_credentials`,
      headers: requestHeaders(known),
    });
    if (answer instanceof HttpFailure) return unanswered(answer);
    return isSeen(answer) ? { kind: "usable" } : unpublished(classify(answer, tools.now()));
  },
  async readLimits({ credentials }, tools) {
    const instance = await findInstance(credentialsOf(credentials).origin, tools);
    if (!("code" in instance)) return { kind: "read", limits: { ...instance.limits } };
    const { code: networkCode, note } = instance;
    const failure = { code: "network_unavailable", networkCode } as const;
    return { kind: "try_later", failure: note === undefined ? failure : { ...failure, note } };
  },
};

/** A page that somebody put in between has a 200 too. */
function isSeen(answer: HttpResponse): boolean {
  const shape = z.object({ id: z.coerce.string().min(1) });
  return answer.status === 200 && shape.safeParse(answer.json()).success;
}
