import { type Finding, notYet, type PostSearch } from "./outcome.ts";
import type { OwnLeg } from "./state.ts";

/** A search that showed no post. */
interface MissedPost<Leg> {
  readonly leg: Leg;
  /** Since the first visible call. */
  readonly ageMs: number;
  readonly search: Exclude<PostSearch, { kind: "done" | "not_yet" }>;
  /** Whether the search proves that there is no post. */
  readonly isMissing: boolean;
}

/** How a network finds out what became of a visible call. */
interface SearchRule<Leg> {
  readonly search: (leg: Leg) => Promise<PostSearch>;
  /** When everything that the first call caused is finished and visible. */
  readonly visibleMs: number | ((leg: Leg) => number);
  /** Decides before that time. By default, the network is asked again. */
  readonly early?: (missed: MissedPost<Leg> & { readonly leftMs: number }) => Finding;
  /** Decides after that time. */
  readonly late: (missed: MissedPost<Leg>) => Finding | Promise<Finding>;
}

/** Makes the step that finds a post by a search. A network that doesn't answer is asked again. */
export function findBySearch<Credentials, Remote>({
  search,
  visibleMs,
  early,
  late,
}: SearchRule<OwnLeg<Credentials, Remote>>) {
  return async (leg: OwnLeg<Credentials, Remote>): Promise<Finding> => {
    if (leg.sentAt === null) return { kind: "absent" };
    const found = await search(leg);
    if (found.kind === "done" || found.kind === "not_yet") return found;
    const ageMs = leg.tools.now().getTime() - leg.sentAt.getTime();
    const leftMs = (typeof visibleMs === "number" ? visibleMs : visibleMs(leg)) - ageMs;
    const isMissing = found.kind === "absent" && found.isComplete;
    const missed = { leg, ageMs, search: found, isMissing };
    if (leftMs <= 0) return late(missed);
    return early?.({ ...missed, leftMs }) ?? notYet("an attempt may still be under way");
  };
}
