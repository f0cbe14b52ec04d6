import * as z from "zod";
import { HttpFailure, type HttpResponse } from "../../runtime/http-call.ts";
import type { ClassifiedAnswer } from "./answers.ts";
import { type Done, notAccepted, notYet } from "./outcome.ts";
import type { PostSearch } from "./outcome.ts";
import { unavailable, unconfirmed, unknowable } from "./outcome.ts";
import type { OwnFollowUp, OwnFollowUpCall } from "./state.ts";
import { comparable } from "./text.ts";
import type { FollowUp } from "./visible-call.ts";

/*
 * No network recognizes a repeated comment, so it is sent at most once. After a lost answer, the comments of the post
 * are listed. Only finding it proves something, because a list may show a comment late or hide it. After a refusal, a list
 * without the comment is enough.
 */

/** When the comments are listed after a call, in seconds. */
const LOOKS = [5, 30, 120] as const;
/** Clocks differ, so a comment may seem a little older than the call that wrote it. */
const CLOCK_SKEW_MS = 60_000;

/** A network's own part of a comment. */
interface Comment<Call> {
  readonly send: (call: Call) => Promise<HttpResponse | HttpFailure>;
  /** Returns the comment that an answer names; undefined where it names none. */
  readonly read: (answer: HttpResponse, call: Call) => Done | undefined;
  /** Returns what any other answer means, to a comment and to a list. */
  readonly classify: (
    answer: HttpResponse,
    call: Call,
  ) => ClassifiedAnswer | Promise<ClassifiedAnswer>;
  /** Reports whether an answer says that there is no such post. */
  readonly isNoPost: (classified: ClassifiedAnswer) => boolean;
  /** Requests the newest comments of the post. */
  readonly list: (call: Call) => Promise<HttpResponse | HttpFailure>;
  /** The field of the answer that has the comments. */
  readonly listedIn: "data" | "elements";
  /** Returns a listed comment if it is the call's: no older than `sinceMs`, by the account, in these words. */
  readonly own: (entry: unknown, call: Call, sinceMs: number) => Done | undefined;
  /** Returns whether the comments can be listed at all; absent: always. */
  readonly canTell?: (call: Omit<Call, "tools">) => boolean;
}

/** Makes the steps of a first comment below a post, written at most once. */
export function comment<Credentials, Remote>(
  own: Comment<OwnFollowUp<Credentials, Remote>>,
): OwnFollowUpCall<Credentials, Remote> {
  const { canTell } = own;
  return {
    async perform(call) {
      const answer = await own.send(call);
      if (answer instanceof HttpFailure) return unconfirmed(answer);
      const written = own.read(answer, call);
      if (written !== undefined) return written;
      const classified = await own.classify(answer, call);
      if (answer.status >= 500 || !own.isNoPost(classified)) return notAccepted(answer, classified);
      // The network doesn't know the post yet: no comment was written below it.
      const { networkCode, note } = classified;
      const message = "The network does not show the post that the comment belongs to.";
      const failure = { code: "network_unavailable", networkCode, message, note } as const;
      return { kind: "try_later", failure, isProof: true };
    },
    async find(call) {
      if (call.sentAt === null) return { kind: "absent" };
      const found = await lookFor(call, call.sentAt, own);
      if (found.kind === "done" || found.kind === "not_yet") return found;
      if (found.kind === "unreadable")
        return unknowable("the comments of the post can't be listed");
      const ageSeconds = (call.tools.now().getTime() - call.sentAt.getTime()) / 1000;
      const next = LOOKS.find((seconds) => seconds > ageSeconds);
      if (next !== undefined)
        return notYet("the list may show the comment later", Math.ceil(next - ageSeconds));
      return call.isRefused ? { kind: "absent" } : unknowable("the comment is not listed");
    },
    ...(canTell && { canTell }),
  };
}

/** Lists the post's comments. One that the network doesn't show has none. */
async function lookFor<Credentials, Remote>(
  call: OwnFollowUp<Credentials, Remote>,
  sentAt: Date,
  own: Comment<OwnFollowUp<Credentials, Remote>>,
): Promise<PostSearch> {
  if (own.canTell?.(call) === false) return { kind: "unreadable" };
  const answer = await own.list(call);
  if (answer instanceof HttpFailure) return unavailable(answer);
  const { data: list } = z.record(z.string(), z.unknown()).safeParse(answer.json());
  const entries = list?.[own.listedIn];
  if (answer.status === 200 && Array.isArray(entries)) {
    const sinceMs = sentAt.getTime() - CLOCK_SKEW_MS;
    const found = entries.map((entry) => own.own(entry, call, sinceMs)).find(Boolean);
    return found ?? { kind: "absent", isComplete: false };
  }
  const classified = await own.classify(answer, call);
  if (own.isNoPost(classified)) return { kind: "absent", isComplete: false };
  return classified.effect === "refuse" ? { kind: "unreadable" } : unavailable(classified);
}

/** Returns whether a comment has the words of the call. */
export function hasWords(text: string, call: Pick<FollowUp, "text">): boolean {
  return comparable(text) === comparable(call.text ?? "");
}
