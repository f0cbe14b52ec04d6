import { exchange } from "../../../../src/shared/networks/contract/answers.ts";
import {
  notAccepted,
  unconfirmed,
  type Outcome,
} from "../../../../src/shared/networks/contract/outcome.ts";
import { HttpFailure } from "../../../../src/shared/runtime/http-call.ts";
import type { LegToPublish } from "../../../../src/shared/networks/contract/visible-call.ts";
import type { NetworkTools } from "../../../../src/shared/networks/contract/tools.ts";
import { classify } from "./errors.ts";
import { ORIGIN } from "./link.ts";
import { boardOf } from "./options.ts";
import { headersOf, readPin } from "./find.ts";

/** Publishes under a key of the leg's own: Pinboard keeps one pin per key. */
export async function perform(leg: LegToPublish, tools: NetworkTools): Promise<Outcome> {
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
  if (answer instanceof HttpFailure) return unconfirmed(answer);
  const pin = readPin(answer);
  if (pin !== undefined) return pin;
  return notAccepted(answer, classify(answer, tools.now()));
}
