import * as z from "zod";
import { shape } from "../../runtime/shape.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { exchange } from "../contract/answers.ts";
import type { LimitsOutcome } from "../contract/outcome.ts";
import { type NetworkTools, appOf } from "../contract/tools.ts";
import { graphGet } from "../graph/request.ts";
import { accessFor, type Credentials } from "./state.ts";

const answerShape = shape(() =>
  z.object({ data: z.object({ data_access_expires_at: z.number().int().nonnegative() }) }),
);

/**
 * Tells when the app's access to the person's data has ended, some 90 days after the person last logged in
 * (`data_access_expires_at`, https://developers.facebook.com/docs/facebook-login/auth-vs-data). Meta's documents do not
 * say whether a page's token then still publishes: such pages are reported, and nothing else is done about it.
 */
export async function readDataAccess(
  { userToken }: Credentials,
  tools: NetworkTools,
): Promise<LimitsOutcome> {
  const { id, secret } = appOf(tools);
  const access = accessFor(`${id}|${secret}`, tools);
  const request = graphGet(access, "debug_token", { input_token: userToken });
  const answer = await exchange(tools, request);
  // A look that fails says nothing of the account: there are other checks for that.
  if (answer instanceof HttpFailure || answer.status !== 200) return { kind: "read", limits: {} };
  const { data } = answerShape().safeParse(answer.json());
  const endsAt = data?.data.data_access_expires_at ?? 0;
  const hasEnded = endsAt > 0 && endsAt * 1000 < tools.now().getTime();
  return { kind: "read", limits: {}, ...(hasEnded ? { doubts: ["data_access_expired"] } : {}) };
}
