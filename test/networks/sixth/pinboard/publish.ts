import { exchange } from "../../../../src/shared/networks/contract/answers.ts";
import {
  unanswered,
  unpublished,
  inDoubt,
  outcomeUnknown,
  type PublishOutcome,
} from "../../../../src/shared/networks/contract/outcome.ts";
import { HttpFailure } from "../../../../src/shared/runtime/http-call.ts";
import type { LegToPublish } from "../../../../src/shared/networks/contract/network.ts";
import type { NetworkTools } from "../../../../src/shared/networks/contract/tools.ts";
import { classify } from "./errors.ts";
import { ORIGIN } from "./link.ts";
import { boardOf } from "./options.ts";
import { headersOf, readPin } from "./look-up.ts";

/** Publishes under a key of the leg's own: Pinboard keeps one pin per key. */
export async function perform(leg: LegToPublish, tools: NetworkTools): Promise<PublishOutcome> {
  const answer = await exchange(tools, {
    method: "POST",
    url: `${ORIGIN}/pins`,
    headers: headersOf(leg),
    body: JSON.stringify({
      key: leg.key,
      text: leg.draft.text,
      board: boardOf(leg.draft),
    }),
  });
  if (answer instanceof HttpFailure)
    return answer.delivery === "not_sent"
      ? unanswered(answer)
      : { kind: "in_doubt", failure: outcomeUnknown(answer.message) };
  const pin = readPin(answer);
  if (pin !== undefined) return pin;
  const classified = classify(answer, tools.now());
  return classified.effect === "doubt" ? inDoubt(classified) : unpublished(classified);
}
