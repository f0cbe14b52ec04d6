import { withoutMarks } from "../networks/contract/text.ts";

const LENGTH_MAX = 60;
/** What a mail program could make a link or an address of. A dot counts between characters that are no digits. */
const LINK = /:\/\/|@|www\.|[^\s\d!-/:-@[-`{-~]\.[^\s\d!-/:-@[-`{-~]/i;

/**
 * Returns a text of a customer as it may be quoted in a mail of ours: short, on one line. Returns undefined for one that
 * could be taken for a link or an address.
 */
export function quotable(text: string): string | undefined {
  // Looked at as it is shown: what is left out of it could stand in the middle of an address.
  const shown = withoutMarks(text.replace(/\s+/g, " ")).trim();
  if (LINK.test(shown)) return undefined;
  const characters = Array.from(shown);
  if (characters.length === 0) return undefined;
  return characters.length <= LENGTH_MAX
    ? characters.join("")
    : `${characters.slice(0, LENGTH_MAX - 1).join("")}…`;
}
