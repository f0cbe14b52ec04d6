/** Whether this is a run of the long check, in which tests try every combination and not one of each kind. */
export const IS_LONG = process.env["LONG_CHECK"] === "true";

/** Returns all cases in the long check, and otherwise the first ones: those that nothing faster proves. */
export function casesOf<Case>(cases: readonly Case[], count = 1): readonly Case[] {
  return IS_LONG ? cases : cases.slice(0, count);
}

/** Returns all pairs in the long check, and otherwise as few as there can be while each one and each other is in one. */
export function pairsOf<One, Other>(
  ones: readonly One[],
  others: readonly Other[],
): readonly (readonly [One, Other])[] {
  if (IS_LONG) return ones.flatMap((one) => others.map((other) => [one, other] as const));
  const length = Math.max(ones.length, others.length);
  return Array.from({ length }, (_, turn) => [
    // Safe: a remainder is an index of its list.
    ones[turn % ones.length] as One,
    others[turn % others.length] as Other,
  ]);
}

/** By how many writes the deaths of a process are apart: each write in the long check, and otherwise every third. */
export const DEATHS_APART = IS_LONG ? 1 : 3;
