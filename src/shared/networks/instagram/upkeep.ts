import * as z from "zod";
import { shape } from "../../runtime/shape.ts";
import { exchange, unanswered, unpublished } from "../contract/classified.ts";
import { graphGet } from "../graph/request.ts";
import type { LimitsOutcome, NetworkData, NetworkTools, Upkeep } from "../contract/network.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { classify } from "./errors.ts";
import type { Credentials } from "./state.ts";
import { accessOf, credentialsOf } from "./state.ts";

const answerShape = shape(() =>
  z.object({
    data: z.tuple(
      [z.object({ config: z.object({ quota_total: z.number().int().positive() }) })],
      z.unknown(),
    ),
  }),
);

/** How many posts a day the account may publish: told differently from account to account. */
export async function readLimits(
  credentials: Pick<Credentials, "accessToken" | "userId">,
  tools: NetworkTools,
): Promise<LimitsOutcome> {
  const query = { fields: "quota_usage,config" };
  const path = `${credentials.userId}/content_publishing_limit`;
  const answer = await exchange(tools, graphGet(accessOf(credentials, tools), path, query));
  if (answer instanceof HttpFailure) return unanswered(answer);
  const parsed = answerShape().safeParse(answer.json());
  return answer.status === 200 && parsed.success
    ? { kind: "read", limits: { postsPerDayMax: parsed.data.data[0].config.quota_total } }
    : unpublished(classify(answer, tools.now()));
}

/** Absent when the network was not to be asked as the account was linked. */
export function postsPerDayMax(limits: NetworkData): number | undefined {
  return z.number().int().positive().safeParse(limits["postsPerDayMax"]).data;
}

/** A token is renewed halfway through its life: a look a day leaves a month for many tries. */
export const instagramUpkeep: Upkeep = {
  idleDaysMax: 0,
  readLimits: ({ credentials }, tools) => readLimits(credentialsOf(credentials), tools),
};
