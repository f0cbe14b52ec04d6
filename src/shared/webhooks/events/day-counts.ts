import type { EventOutcome } from "../../events/events.ts";

interface PostCounts {
  readonly succeeded: number;
  readonly partial: number;
  readonly failed: number;
  readonly canceled: number;
}

interface LegCounts {
  readonly succeeded: number;
  readonly failed: number;
  /** The failed legs by their error's code. */
  readonly failedBy: Readonly<Record<string, number>>;
}

/** What ended on a day in an application: posts, and legs by network. */
export interface DayCounts {
  readonly posts: PostCounts;
  readonly legs: Readonly<Record<string, LegCounts>>;
}

/** More codes of a day are added up, so that its row stays small. */
const CODES_MAX = 30;
const OTHER_CODES = "other";

export const NO_COUNTS: DayCounts = {
  posts: { succeeded: 0, partial: 0, failed: 0, canceled: 0 },
  legs: {},
};
const NO_LEGS: LegCounts = { succeeded: 0, failed: 0, failedBy: {} };

/** Returns the code that a failed leg is counted under on this day. */
function codeOfDay({ legs }: DayCounts, code: string): string {
  const known = new Set(Object.values(legs).flatMap(({ failedBy }) => Object.keys(failedBy)));
  known.delete(OTHER_CODES);
  return known.has(code) || known.size < CODES_MAX ? code : OTHER_CODES;
}

/** Reports whether days count events of this type. */
export const isCounted = ({ type }: EventOutcome) =>
  /^(?:post\.(?:succeeded|partial|failed|canceled)|leg\.(?:succeeded|failed))$/.test(type);

/** Adds an event to the counts of its day. Events that aren't counted change nothing. */
export function addOutcome(day: DayCounts, { type, network, code }: EventOutcome): DayCounts {
  const { posts, legs } = day;
  const name = network ?? "";
  const leg = legs[name] ?? NO_LEGS;
  switch (type) {
    case "post.succeeded":
      return { legs, posts: { ...posts, succeeded: posts.succeeded + 1 } };
    case "post.partial":
      return { legs, posts: { ...posts, partial: posts.partial + 1 } };
    case "post.failed":
      return { legs, posts: { ...posts, failed: posts.failed + 1 } };
    case "post.canceled":
      return { legs, posts: { ...posts, canceled: posts.canceled + 1 } };
    case "leg.succeeded":
      return { posts, legs: { ...legs, [name]: { ...leg, succeeded: leg.succeeded + 1 } } };
    case "leg.failed": {
      const reason = codeOfDay(day, code ?? OTHER_CODES);
      const failedBy = { ...leg.failedBy, [reason]: (leg.failedBy[reason] ?? 0) + 1 };
      return { posts, legs: { ...legs, [name]: { ...leg, failed: leg.failed + 1, failedBy } } };
    }
    default:
      return day;
  }
}
