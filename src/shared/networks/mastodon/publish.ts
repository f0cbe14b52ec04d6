import { exchange } from "../contract/answers.ts";
import { unknownOutcome, notAccepted, startOver, unconfirmed } from "../contract/outcome.ts";
import type { Outcome } from "../contract/outcome.ts";
import { type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import { MEDIA_TAKEN, classify, errorText, meantStatus } from "./errors.ts";
import { ownOptionsOf } from "./options.ts";
import { readStatus } from "./own-posts.ts";
import { findOwnPost, isKeyAlive } from "./find.ts";
import { traitsOf } from "./servers.ts";
import { keepsKeysOf } from "./software.ts";
import { type Leg, requestHeaders } from "./state.ts";

const NOT_READY_SECONDS = 5;

export async function perform(leg: Leg): Promise<Outcome> {
  const { idempotencyKey, media } = leg.remote;
  const { visibility, spoilerText, sensitive, language } = ownOptionsOf(leg.draft);
  const isSpent = traitsOf(leg.credentials.software).keys === "spent";
  const answer = await exchange(leg.tools, {
    method: "POST",
    url: `${leg.credentials.origin}/api/v1/statuses`,
    headers: {
      ...requestHeaders(leg.credentials),
      "content-type": "application/json",
      ...(isSpent ? {} : { "idempotency-key": idempotencyKey }),
    },
    body: JSON.stringify({
      status: leg.draft.text,
      media_ids: media.length > 0 ? media.map((item) => item.id) : undefined,
      visibility,
      spoiler_text: spoilerText,
      sensitive,
      language,
    }),
  });
  if (answer instanceof HttpFailure) return unconfirmed(answer);
  const isRefusal = answer.status >= 400 && answer.status < 500;
  const isTaken = isRefusal && MEDIA_TAKEN.test(errorText(answer));
  return isTaken ? lookForTakenMedia(leg, answer) : readPost(answer, leg);
}

function readPost(answer: HttpResponse, leg: Leg): Outcome {
  const { remote, tools } = leg;
  const published = readStatus(answer, leg);
  if (published !== undefined) return published;
  const refused = { ...answer, status: meantStatus(answer) };
  return notAccepted(refused, classify(answer, tools.now()), (classified) => {
    const media = remote.media.map((item) => ({ ...item, isReady: false }));
    return startOver(classified, { ...remote, media }, { pollAfterSeconds: NOT_READY_SECONDS });
  });
}

/**
 * Finds out why files are "not found or already attached": an earlier attempt attached them, or the server deleted
 * them.
 */
async function lookForTakenMedia(leg: Leg, answer: HttpResponse): Promise<Outcome> {
  const classified = classify(answer, leg.tools.now());
  const search = await findOwnPost(leg);
  if (search.kind === "done") return search;
  const isRepeatable = keepsKeysOf(leg) && isKeyAlive(leg);
  const isCertain = search.kind === "absent" && (search.isComplete || isRepeatable);
  if (!isCertain) return unknownOutcome(classified);
  const proof = { ...classified, code: "media_not_ready", isProof: true } as const;
  return startOver(proof, { ...leg.remote, media: [] });
}
