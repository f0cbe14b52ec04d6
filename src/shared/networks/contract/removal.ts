import { HttpFailure, type HttpResponse } from "../../runtime/http-call.ts";
import type { ClassifiedAnswer } from "./answers.ts";
import { type Done, type Rejection, type TryLater } from "./outcome.ts";
import { unanswered, unpublished } from "./outcome.ts";
import type { OwnFollowUp, OwnFollowUpCall } from "./state.ts";

/** The post is gone: it was taken down now or before. */
export const REMOVED: Done = { kind: "done", externalId: null, url: null };

/** A deletion, and how its answer is read. */
interface Deletion<Call> {
  readonly send: (call: Call) => Promise<HttpResponse | HttpFailure>;
  /** Reports whether the answer says that the post is gone. */
  readonly isGone: (answer: HttpResponse) => boolean;
  /** Interprets any other answer. */
  readonly classify: (answer: HttpResponse, call: Call) => Promise<ClassifiedAnswer>;
}

/** Returns the outcome of a deletion that was not confirmed. It is repeated, because a removed post stays gone. */
export function notRemoved(answer: HttpFailure | ClassifiedAnswer): TryLater | Rejection {
  return answer instanceof HttpFailure ? unanswered(answer) : unpublished(answer);
}

/** Makes the removal for a network where one deletion is enough and may be repeated. */
export function removal<Credentials, Remote>({
  send,
  isGone,
  classify,
}: Deletion<OwnFollowUp<Credentials, Remote>>): OwnFollowUpCall<Credentials, Remote> {
  return {
    async perform(call) {
      const answer = await send(call);
      if (answer instanceof HttpFailure) return notRemoved(answer);
      return isGone(answer) ? REMOVED : notRemoved(await classify(answer, call));
    },
    find: repeatable,
  };
}

/** Finds that a repeat is harmless, whatever became of the earlier calls. */
export const repeatable = () => Promise.resolve({ kind: "repeatable" } as const);
