import * as z from "zod";
import { exchange } from "../../../../src/shared/networks/contract/answers.ts";
import {
  notYet,
  type Done,
  type Finding,
} from "../../../../src/shared/networks/contract/outcome.ts";
import { HttpFailure, type HttpResponse } from "../../../../src/shared/runtime/http-call.ts";
import { shape } from "../../../../src/shared/runtime/shape.ts";
import type { LegToPublish } from "../../../../src/shared/networks/contract/visible-call.ts";
import type { NetworkTools } from "../../../../src/shared/networks/contract/tools.ts";
import { classify } from "./errors.ts";
import { ORIGIN, tokenOf } from "./link.ts";

/** What an earlier call set off is done by then. */
const VISIBLE_MS = 30_000;

const pinShape = shape(() => z.object({ id: z.string(), url: z.url() }));

export function readPin(answer: HttpResponse): Done | undefined {
  const pin = pinShape().safeParse(answer.json()).data;
  if (answer.status !== 200 || pin === undefined) return undefined;
  return { kind: "done", externalId: pin.id, url: pin.url };
}

export function headersOf({ credentials }: LegToPublish) {
  return {
    authorization: `Bearer ${tokenOf(credentials)}`,
    "content-type": "application/json",
  };
}

export async function find(leg: LegToPublish, tools: NetworkTools): Promise<Finding> {
  const answer = await exchange(tools, {
    method: "GET",
    url: `${ORIGIN}/pins/${encodeURIComponent(leg.key)}`,
    headers: headersOf(leg),
  });
  if (answer instanceof HttpFailure) return notYet(answer.message);
  const pin = readPin(answer);
  if (pin !== undefined) return pin;
  const ageMs = tools.now().getTime() - (leg.sentAt?.getTime() ?? 0);
  if (answer.status === 404) return { kind: ageMs >= VISIBLE_MS ? "absent" : "repeatable" };
  const classified = classify(answer, tools.now());
  return notYet(classified.note, classified.retryAfterSeconds);
}
