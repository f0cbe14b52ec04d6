/** Whether this is a run of the long check, in which tests try every combination and not one of each kind. */
export const IS_LONG = process.env["LONG_CHECK"] === "true";

/** Returns all cases in the long check, and otherwise the first ones: those that nothing faster proves. */
export function casesOf<Case>(cases: readonly Case[], count = 1): readonly Case[] {
  return IS_LONG ? cases : cases.slice(0, count);
}
