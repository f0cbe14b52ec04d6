import { askAgain, type Lookup, outcomeUnknown, type LookUpOutcome } from "./outcome.ts";
import type { OwnLeg } from "./state.ts";

type Decided = LookUpOutcome | Promise<LookUpOutcome>;

/** A look-up that showed no post. */
interface Looked<Leg> {
  readonly leg: Leg;
  /** Since the first visible call. */
  readonly ageMs: number;
  readonly lookup: Exclude<Lookup, { kind: "found" | "unavailable" }>;
  /** Whether the look-up proves that there is no post. */
  readonly isMissing: boolean;
}

/** How a network finds out the outcome of a visible call. */
interface LookUp<Leg> {
  readonly find: (leg: Leg) => Promise<Lookup>;
  /** When everything that the first call caused is finished and visible. */
  readonly settledMs: number | ((leg: Leg) => number);
  /** Decides before that time. By default, the network is asked again. */
  readonly early?: (looked: Looked<Leg> & { readonly leftMs: number }) => Decided;
  /** Decides after that time. */
  readonly late: (looked: Looked<Leg>) => Decided;
}

/** Makes the decision after a lost answer. A network that doesn't answer is asked again. */
export function lookingUp<Credentials, Remote>({
  find,
  settledMs,
  early,
  late,
}: LookUp<OwnLeg<Credentials, Remote>>) {
  return async (leg: OwnLeg<Credentials, Remote>): Promise<LookUpOutcome> => {
    if (leg.sentAt === null) return { kind: "may_perform", isAbsent: true };
    const lookup = await find(leg);
    if (lookup.kind === "found") return lookup.published;
    if (lookup.kind === "unavailable") return askAgain(lookup.note, lookup.retryAfterSeconds);
    const ageMs = leg.tools.now().getTime() - leg.sentAt.getTime();
    const leftMs = (typeof settledMs === "number" ? settledMs : settledMs(leg)) - ageMs;
    const isMissing = lookup.kind === "absent" && lookup.isComplete;
    const looked = { leg, ageMs, lookup, isMissing };
    if (leftMs <= 0) return late(looked);
    return early?.({ ...looked, leftMs }) ?? askAgain("an attempt may still be under way");
  };
}

/** Ends a leg when nothing will tell whether it was published. */
export function unknowable(note: string): LookUpOutcome {
  return { kind: "unknowable", failure: outcomeUnknown(note) };
}
