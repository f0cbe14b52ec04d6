import { withoutMarks } from "../networks/contract/text.ts";

const LENGTH_MAX = 60;
/** Text that a mail program could turn into a link or address. Dots count only between characters other than digits. */
const LINK = /:\/\/|@|www\.|[^\s\d!-/:-@[-`{-~]\.[^\s\d!-/:-@[-`{-~]/i;

/**
 * Shortens a customer's text to one line that may be quoted in our mails. The result is undefined when the text could
 * be taken for a link or an address.
 */
export function quotable(text: string): string | undefined {
  // Checked in the form that is shown, because characters that are removed could have split an address.
  const shown = withoutMarks(text.replace(/\s+/g, " ")).trim();
  if (LINK.test(shown)) return undefined;
  const characters = Array.from(shown);
  if (characters.length === 0) return undefined;
  return characters.length <= LENGTH_MAX
    ? characters.join("")
    : `${characters.slice(0, LENGTH_MAX - 1).join("")}…`;
}
