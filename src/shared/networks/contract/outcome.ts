import { HttpFailure, type HttpResponse } from "../../runtime/http-call.ts";
import type { NetworkData } from "./draft.ts";
import type { Problem } from "./rules.ts";
import type { ClassifiedAnswer, ErrorRow } from "./answers.ts";

export interface LegFailure extends Omit<ErrorRow, "effect" | "isProof"> {
  /** The network's own code, such as `ExpiredToken` or `190/463`. */
  readonly networkCode: string | null;
  readonly mediaIndex?: number;
  /** Path of the option that names the picture concerned. */
  readonly field?: string;
  /** The network's own words, at most 500 characters, without secrets: for the timeline and the log. */
  readonly note?: string;
}

/** The call had its effect: exactly once, or what was to be removed is gone. */
export interface Done {
  readonly kind: "done";
  /** The network's id of what was made; null where the call made nothing, or nobody told. */
  readonly externalId: string | null;
  readonly url: string | null;
  /** How what was made differs from what was sent, by the network's own answer: rules of the network, for readers. */
  readonly differences?: readonly Problem[];
}

/** Whether the answer proves that the call had no effect. After a refusal without it, the network is asked. */
interface Proof {
  readonly isProof?: true;
}

/** The network says that it did not do it. A later attempt may succeed. */
export interface TryLater extends Proof {
  readonly kind: "try_later";
  readonly failure: LegFailure;
  readonly retryAfterSeconds?: number;
}

/** The network says that it did not do it. Another attempt would be refused too. */
export interface Rejection extends Proof {
  readonly kind: "rejected";
  readonly failure: LegFailure;
  readonly retryAfterSeconds?: never;
}

export type PrepareOutcome =
  | {
      readonly kind: "ready";
      readonly remote: NetworkData;
      /** Rules of the network about what is left out or changed, as far as only preparing shows it. */
      readonly warnings?: readonly string[];
    }
  | {
      readonly kind: "processing";
      readonly remote: NetworkData;
      readonly pollAfterSeconds: number;
      /** Whether the network says that it works on the files. It can then be asked earlier while these are young. */
      readonly isPoll?: true;
    }
  /** `remote`: what was done so far and is worth keeping. */
  | (TryLater & { readonly remote?: NetworkData })
  | Rejection;

/** What `prepare` made is gone or can't be used yet. `remote` is the state to prepare from again. */
export interface PrepareAgain extends Proof {
  readonly kind: "prepare_again";
  readonly remote: NetworkData;
  readonly failure: LegFailure;
  readonly pollAfterSeconds: number;
}

/** The answer doesn't tell whether the call had its effect. `remote` is what `find` will want to know of the answer. */
export interface Unknown {
  readonly kind: "unknown";
  readonly failure: LegFailure;
  readonly remote?: NetworkData;
  readonly pollAfterSeconds?: number;
  /** Whether the network says that it works on the call. */
  readonly isPoll?: true;
}

/** What the answer to a visible call says: done, not made and may be made again, not made for good, or unknown. */
export type Outcome = Done | TryLater | Rejection | PrepareAgain | Unknown;

/** It can't be told yet. The network is asked again later. */
export interface NotYet {
  readonly kind: "not_yet";
  readonly failure: LegFailure;
  readonly pollAfterSeconds: number;
  readonly isPoll?: true;
}

/** What became of the calls of unknown outcome. */
export type Finding =
  | Done
  /** No earlier call had an effect, or will have one. `failure`: why the call has to be repeated, if the network said so. */
  | { readonly kind: "absent"; readonly failure?: LegFailure }
  /** An earlier call may have had its effect, or may still have it, and a repeat is harmless. */
  | { readonly kind: "repeatable" }
  | NotYet
  /** It will never be known: nothing is sent again, and the call ends with `outcome_unknown`. */
  | { readonly kind: "unknowable"; readonly failure: LegFailure }
  /** No earlier call had an effect, and no repeat would have one. */
  | { readonly kind: "refused"; readonly failure: LegFailure };

export type CredentialsOutcome =
  | { readonly kind: "usable" }
  | {
      readonly kind: "refreshed";
      readonly credentials: NetworkData;
      readonly expiresAt: string | null;
    }
  | TryLater
  | Rejection;

/** The limits that a network states for an account. They may change long after it was linked. */
export type LimitsOutcome =
  | {
      readonly kind: "read";
      readonly limits: NetworkData;
      /** Points for operators to review: the answer differs from the documents, or they don't cover it. */
      readonly doubts?: readonly string[];
    }
  | TryLater
  | Rejection;

export function legFailure(
  {
    effect: _effect,
    isProof: _isProof,
    retryAfterSeconds: _wait,
    note,
    ...known
  }: ClassifiedAnswer,
  mediaIndex?: number,
): LegFailure {
  return {
    ...known,
    ...(mediaIndex === undefined ? {} : { mediaIndex }),
    ...(note === "" ? {} : { note }),
  };
}

/** Returns the outcome of a refused call that could not publish anything. */
export function unpublished(
  classified: ClassifiedAnswer,
  mediaIndex?: number,
): TryLater | Rejection {
  const failure = legFailure(classified, mediaIndex);
  const proof = proofOf(classified);
  switch (classified.effect) {
    case "refuse":
      return { kind: "rejected", failure, ...proof };
    case "at_once":
      return { kind: "try_later", failure, retryAfterSeconds: 0, ...proof };
    case "doubt":
      return {
        kind: "try_later",
        failure: { ...failure, code: "network_unavailable" },
        ...waitField(classified),
      };
    default:
      return { kind: "try_later", failure, ...waitField(classified), ...proof };
  }
}

function proofOf({ isProof }: ClassifiedAnswer): Proof {
  return isProof === true ? { isProof } : {};
}

function waitField({ retryAfterSeconds }: Pick<ClassifiedAnswer, "retryAfterSeconds">) {
  return retryAfterSeconds === null ? {} : { retryAfterSeconds };
}

/** Returns the outcome of a step for which the network can't be reached. */
export function outage(note: string, retryAfterSeconds: number | null = null): TryLater {
  const failure = { code: "network_unavailable", networkCode: null, note } as const;
  return { kind: "try_later", failure, ...waitField({ retryAfterSeconds }) };
}

/** Returns the outcome of a read that was not answered, or answered with an error that says nothing. */
export function outageOf(answer: HttpFailure | ClassifiedAnswer): TryLater {
  if (answer instanceof HttpFailure) return unanswered(answer);
  const { note, networkCode, retryAfterSeconds } = answer;
  return outage(note || (networkCode ?? ""), retryAfterSeconds);
}

/** Returns the outcome of a call without an answer that could not publish anything. */
export function unanswered(failure: HttpFailure): TryLater {
  return outage(failure.message);
}

const ASK_AGAIN_SECONDS = 30;

/** Returns the failure of a leg when it can't be found out whether it was published. */
export function outcomeUnknown(note: string): LegFailure {
  return { code: "outcome_unknown", networkCode: null, note };
}

/** Returns the outcome of a visible call whose answer doesn't tell whether it had its effect. */
export function unknownOutcome(classified: ClassifiedAnswer): Unknown {
  return { kind: "unknown", failure: legFailure({ ...classified, code: "outcome_unknown" }) };
}

/** Returns the outcome of a visible call without an answer: it was not sent, or its effect is unknown. */
export function unconfirmed(failure: HttpFailure): TryLater | Unknown {
  return failure.delivery === "not_sent"
    ? { ...unanswered(failure), isProof: true }
    : { kind: "unknown", failure: outcomeUnknown(failure.message) };
}

/** Returns the outcome of a refusal after which the leg is prepared again from `again`. Without that, the leg ends. */
export function startOver(
  classified: ClassifiedAnswer,
  again: NetworkData | undefined,
  { pollAfterSeconds = 0, mediaIndex }: { pollAfterSeconds?: number; mediaIndex?: number } = {},
): Rejection | PrepareAgain {
  const failure = legFailure(classified, mediaIndex);
  const proof = proofOf(classified);
  return again === undefined
    ? { kind: "rejected", failure, ...proof }
    : { kind: "prepare_again", remote: again, failure, pollAfterSeconds, ...proof };
}

/** Returns the outcome of a visible call that was not accepted. */
export function notAccepted(
  { status }: HttpResponse,
  classified: ClassifiedAnswer,
  prepareAgain: (classified: ClassifiedAnswer) => Outcome = unpublished,
): Outcome {
  // A server that failed may give a reason, but it is still unknown whether the post was made.
  if (classified.effect === "doubt" || status >= 500) return unknownOutcome(classified);
  return classified.effect === "prepare_again" ? prepareAgain(classified) : unpublished(classified);
}

/** What a search for the call's effect among the account's own posts or comments came to. */
export type PostSearch =
  | Done
  /** `isComplete`: the list reached back to before the first attempt, so it would contain a post that lists show. */
  | { readonly kind: "absent"; readonly isComplete: boolean }
  | { readonly kind: "unreadable" }
  /** A post may be the leg's, and nothing tells whether it is. */
  | { readonly kind: "ambiguous" }
  | NotYet;

/** Returns the finding when it can't be told yet whether the call had its effect. */
export function notYet(note: string, seconds: number | null = null): NotYet {
  return {
    kind: "not_yet",
    failure: outcomeUnknown(note),
    pollAfterSeconds: seconds ?? ASK_AGAIN_SECONDS,
  };
}

/** Returns the finding after a read that told nothing. */
export function notYetAfter({ failure, retryAfterSeconds }: TryLater | Rejection): NotYet {
  const unknown = { ...failure, code: "outcome_unknown" } as const;
  return { ...notYet("", retryAfterSeconds), failure: unknown };
}

/** Returns the finding while the network works on the call. */
export function stillWorking(note: string): NotYet {
  return { ...notYet(note), isPoll: true };
}

/** Returns the finding after a list of posts that was not answered, or answered with an error. */
export function unavailable(answer: HttpFailure | ClassifiedAnswer): NotYet {
  return notYetAfter(outageOf(answer));
}

/** Returns the finding when nothing will tell whether the call had its effect. */
export function unknowable(note: string): Finding {
  return { kind: "unknowable", failure: outcomeUnknown(note) };
}

/** A file that fails again within this time is refused. A later manual retry uploads it again. */
const RESTART_MS = 15 * 60_000;

/** Reports whether uploads may be given up and begun again, by the time at which they last were. */
export function mayStartOver(lastAt: string | undefined, now: Date): boolean {
  return lastAt === undefined || now.getTime() - Date.parse(lastAt) >= RESTART_MS;
}
