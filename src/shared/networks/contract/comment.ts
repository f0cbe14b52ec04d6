import { objectShape } from "./fields.ts";
import * as z from "zod";
import { HttpFailure, type HttpResponse } from "../../runtime/http-call.ts";
import type { Classified } from "./answers.ts";
import type { FollowUp } from "./network.ts";
import { askAgain, legFailure, type LegFailure, outcomeUnknown, unpublished } from "./outcome.ts";
import { type Done, type FollowUpLookUp, type FollowUpOutcome } from "./outcome.ts";
import { type Lookup, unanswered, unavailable } from "./outcome.ts";
import { failureShape } from "./refusals.ts";
import type { OwnFollowUp, OwnSteps } from "./state.ts";
import { comparable } from "./text.ts";
import type { NetworkTools } from "./tools.ts";

/*
 * No network recognises a repeated comment, so it is sent at most once. After a lost answer, the comments of the post
 * are listed. Only finding it proves something, because a list may show a comment late or hide it. A refusal doesn't
 * prove that nothing was written, unless the error table says so. It counts once the list shows nothing.
 */

/** When the comments are listed after a call, in seconds. */
const LOOKS = [5, 30, 120] as const;
const [FIRST_LOOK] = LOOKS;
/** Clocks differ, so a comment may seem a little older than the call that wrote it. */
const CLOCK_SKEW_MS = 60_000;

/** The result of listing the post's comments. */
type Look =
  | Done
  | { readonly kind: "absent" }
  /** The network doesn't show the post itself. */
  | { readonly kind: "no_post" }
  | { readonly kind: "unreadable" }
  | Extract<Lookup, { kind: "unavailable" }>;

/** A network's own part of a comment. */
interface Comment<Call> {
  readonly send: (call: Call) => Promise<HttpResponse | HttpFailure>;
  /** Returns the comment that an answer names; undefined where it names none. */
  readonly read: (answer: HttpResponse, call: Call) => Done | undefined;
  /** Returns what any other answer means, to a comment and to a list. */
  readonly classify: (answer: HttpResponse, call: Call) => Classified | Promise<Classified>;
  /** Reports whether an answer says that there is no such post. */
  readonly isNoPost: (classified: Classified) => boolean;
  /** Requests the newest comments of the post. */
  readonly list: (call: Call) => Promise<HttpResponse | HttpFailure>;
  /** The field of the answer that has the comments. */
  readonly listedIn: "data" | "elements";
  /** Returns a listed comment if it is the call's: no older than `sinceMs`, by the account, in these words. */
  readonly own: (entry: unknown, call: Call, sinceMs: number) => Done | undefined;
  /** Returns whether the comments can be listed at all; absent: always. */
  readonly canTell?: (call: Call) => boolean;
}

type Refusal = Extract<FollowUpOutcome, { kind: "rejected" | "try_later" | "not_there_yet" }>;

/** A refusal, stored until the list has shown the outcome of the call. It is about that call alone. */
const keptShape = objectShape(() => ({
  refusal: z.object({
    kind: z.enum(["rejected", "try_later", "not_there_yet"]),
    at: z.iso.datetime(),
    failure: failureShape(),
  }),
}));

/** Makes the steps of a first comment below a post, written at most once. */
export function comment<Credentials, Remote>(
  own: Comment<OwnFollowUp<Credentials, Remote>>,
): OwnSteps<Credentials, Remote> {
  return {
    async perform(call) {
      const answer = await own.send(call);
      if (answer instanceof HttpFailure)
        return answer.delivery === "not_sent"
          ? { ...unanswered(answer), isProof: true }
          : inDoubt(outcomeUnknown(answer.message));
      const written = own.read(answer, call);
      if (written !== undefined) return written;
      const classified = await own.classify(answer, call);
      if (classified.effect === "doubt" || answer.status >= 500)
        return inDoubt(legFailure(classified));
      const refusal = refusalOf(classified, own.isNoPost(classified));
      const counts = classified.isProof === true || isLastWord(refusal, own.canTell?.(call));
      return counts ? refusal : inDoubt(refusal.failure, keep(refusal, call.tools));
    },
    async lookUp(call) {
      if (call.sentAt === null) return { kind: "may_perform" };
      const look = await lookFor(call, own);
      const ageSeconds = (call.tools.now().getTime() - call.sentAt.getTime()) / 1000;
      return look.kind === "done" ? look : decide(look, keptRefusal(call), ageSeconds);
    },
  };
}

async function lookFor<Credentials, Remote>(
  call: OwnFollowUp<Credentials, Remote>,
  own: Comment<OwnFollowUp<Credentials, Remote>>,
): Promise<Look> {
  if (own.canTell?.(call) === false) return { kind: "unreadable" };
  const answer = await own.list(call);
  if (answer instanceof HttpFailure) return unavailable(answer);
  const { data: list } = z.record(z.string(), z.unknown()).safeParse(answer.json());
  const entries = list?.[own.listedIn];
  if (answer.status === 200 && Array.isArray(entries)) {
    const sinceMs = (call.sentAt ?? call.tools.now()).getTime() - CLOCK_SKEW_MS;
    const found = entries.map((entry) => own.own(entry, call, sinceMs)).find(Boolean);
    return found ?? { kind: "absent" };
  }
  const classified = await own.classify(answer, call);
  if (own.isNoPost(classified)) return { kind: "no_post" };
  return classified.effect === "refuse" ? { kind: "unreadable" } : unavailable(classified);
}

/** Reports whether nothing will say more than this refusal. One that allows a repeat is then not enough. */
function isLastWord({ kind }: Refusal, canTell = true): boolean {
  return !canTell && kind !== "try_later";
}

function refusalOf(classified: Classified, isNoPost: boolean): Refusal {
  const { networkCode, note } = classified;
  if (!isNoPost) return unpublished(classified);
  const message = "The network does not show the post that the comment belongs to.";
  const failure = { code: "network_unavailable", networkCode, message, note } as const;
  return { kind: "not_there_yet", failure };
}

/** Returns an unknown outcome to look up. `state` replaces what an earlier attempt stored. */
function inDoubt(failure: LegFailure, state: FollowUp["state"] = {}): FollowUpOutcome {
  const unknown = { ...failure, code: "outcome_unknown" } as const;
  return { kind: "in_doubt", failure: unknown, pollAfterSeconds: FIRST_LOOK, state };
}

function keep({ kind, failure }: Refusal, tools: NetworkTools): FollowUp["state"] {
  return { refusal: { kind, failure, at: tools.now().toISOString() } };
}

/** Returns the refusal of the last attempt. One from before that attempt was marked is about an earlier one. */
function keptRefusal({ state, sentAt }: Pick<FollowUp, "state" | "sentAt">) {
  const { refusal } = keptShape().safeParse(state).data ?? {};
  if (refusal === undefined || sentAt === null) return undefined;
  return Date.parse(refusal.at) >= sentAt.getTime() ? refusal : undefined;
}

type Kept = ReturnType<typeof keptRefusal>;

function decide(look: Exclude<Look, Done>, refusal: Kept, ageSeconds: number): FollowUpLookUp {
  if (look.kind === "unavailable") return askAgain(look.note, look.retryAfterSeconds);
  if (look.kind === "unreadable")
    return refusal?.kind === "rejected"
      ? { kind: "rejected", failure: refusal.failure }
      : unknowable("the comments of the post can't be listed");
  // Without a post, there is no comment.
  if (look.kind === "no_post" && refusal?.kind === "not_there_yet")
    return { kind: "may_perform", failure: refusal.failure };
  const next = LOOKS.find((seconds) => seconds > ageSeconds);
  if (next !== undefined)
    return askAgain("the list may show the comment later", Math.ceil(next - ageSeconds));
  if (refusal === undefined) return unknowable("the comment is not listed");
  const { kind, failure } = refusal;
  return kind === "rejected" ? { kind, failure } : { kind: "may_perform", failure };
}

function unknowable(note: string): FollowUpLookUp {
  return { kind: "unknowable", failure: outcomeUnknown(note) };
}

/** Returns whether a comment has the words of the call. */
export function hasWords(text: string, call: Pick<FollowUp, "text">): boolean {
  return comparable(text) === comparable(call.text ?? "");
}
