import { isBlank, shortenedText, withoutMarks } from "../networks/contract/text.ts";

const LENGTH_MAX = 60;
/**
 * Text that no mail program turns into a link: letters, digits, spaces, and punctuation that is in no address. A dot, or
 * a mark that browsers read as one (U+3002, U+FF0E, U+FF61, U+2024), would join two words to a host name, so the only dot
 * is one that ends a word. `/`, `:`, `@` and everything else that is not listed is in no quoted text.
 */
const PLAIN = /^(?:[\p{L}\p{M}\p{N} \-–—&'’‘"“”„«»(),!?+#%*]|\.(?: |$))*$/u;
/** Phones dial a number in a mail when it is touched: seven digits or more, however they are grouped. */
const PHONE_NUMBER = /(?:\p{Nd}[ \-–—(),.+]*){7}/u;

/**
 * Shortens a customer's text to one line that may be quoted in our mails. The result is undefined when a mail program
 * could turn a part of it into a link, an address or a telephone number.
 */
export function quotable(text: string): string | undefined {
  // Checked in the form that is shown, because characters that are removed could have split an address.
  const shown = withoutMarks(text.replace(/\s+/g, " ")).trim();
  if (!PLAIN.test(shown) || PHONE_NUMBER.test(shown)) return undefined;
  return isBlank(shown) ? undefined : shortenedText(shown, LENGTH_MAX);
}
