import * as z from "zod";
import { exchange, unanswered, unpublished } from "../../../../src/shared/networks/classified.ts";
import {
  HttpFailure,
  type HttpResponse,
  type LegToPublish,
  type NetworkTools,
  type Published,
  type PublishOutcome,
  type ReconcileOutcome,
} from "../../../../src/shared/networks/network.ts";
import { classify, unknownOutcome } from "./errors.ts";
import { ORIGIN, tokenOf } from "./link.ts";
import { boardOf } from "./options.ts";

const ASK_AGAIN_SECONDS = 30;
/** What an earlier call set off is done by then. */
const SETTLED_MS = 30_000;

const pinShape = z.object({ id: z.string(), url: z.url() });

function readPin(answer: HttpResponse): Published | undefined {
  const pin = pinShape.safeParse(answer.json()).data;
  if (answer.status !== 200 || pin === undefined) return undefined;
  return { kind: "published", networkPostId: pin.id, url: pin.url };
}

function headersOf({ credentials }: LegToPublish) {
  return {
    authorization: `Bearer ${tokenOf(credentials)}`,
    "content-type": "application/json",
  };
}

/** Under a key of the leg's own: Pinboard keeps one pin per key. */
export async function publish(leg: LegToPublish, tools: NetworkTools): Promise<PublishOutcome> {
  const answer = await exchange(tools, {
    method: "POST",
    url: `${ORIGIN}/pins`,
    headers: headersOf(leg),
    body: JSON.stringify({
      key: leg.key,
      text: leg.draft.text,
      board: boardOf(leg.draft.options),
    }),
  });
  if (answer instanceof HttpFailure)
    return answer.delivery === "not_sent"
      ? unanswered(answer)
      : {
          kind: "in_doubt",
          failure: { code: "outcome_unknown", networkCode: null, note: answer.message },
        };
  const pin = readPin(answer);
  if (pin !== undefined) return pin;
  const classified = classify(answer, tools.now());
  return classified.effect === "doubt"
    ? { kind: "in_doubt", failure: unknownOutcome(classified) }
    : unpublished(classified);
}

export async function reconcile(leg: LegToPublish, tools: NetworkTools): Promise<ReconcileOutcome> {
  const answer = await exchange(tools, {
    method: "GET",
    url: `${ORIGIN}/pins/${encodeURIComponent(leg.key)}`,
    headers: headersOf(leg),
  });
  if (answer instanceof HttpFailure)
    return {
      kind: "ask_again",
      failure: { code: "outcome_unknown", networkCode: null, note: answer.message },
      pollAfterSeconds: ASK_AGAIN_SECONDS,
    };
  const pin = readPin(answer);
  if (pin !== undefined) return pin;
  const ageMs = tools.now().getTime() - (leg.sentAt?.getTime() ?? 0);
  if (answer.status === 404) return { kind: "may_publish", isAbsent: ageMs >= SETTLED_MS };
  const classified = classify(answer, tools.now());
  return {
    kind: "ask_again",
    failure: unknownOutcome(classified),
    pollAfterSeconds: classified.retryAfterSeconds ?? ASK_AGAIN_SECONDS,
  };
}
