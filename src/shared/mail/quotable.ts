import { isBlank, shortenedText, withoutMarks } from "../networks/contract/text.ts";

const LENGTH_MAX = 60;
/**
 * What joins words to an address that a mail program makes a link of: dots and the marks that browsers read as one, the
 * colon of a scheme, the at sign, and doubled slashes. What closes a word, such as a bracket, joins it to nothing.
 */
const JOIN =
  /[.。．｡․…‥﹒\u2488-\u249b:：﹕@＠﹫](?=[^\s\p{Pe}\p{Pf}"'!?,;])|[/\\／＼](?=[/\\／＼])/gu;
const SLASH = /[/\\／＼]/;
/** A version, a price or a time: numbers alone, and fewer than the four of an IP address. */
const NUMBER = /^[\p{Ps}\p{Pi}"']*v?\d{1,4}(?:[.:]\d{1,4}){1,2}[\p{Pe}\p{Pf}"'!?,;:.%]*$/iu;
/** Phones dial a number of seven digits or more in a mail when it is touched, however its digits are grouped. */
const SIX_OF_MORE = /(?:\p{Nd}[^\p{L}\p{N},;:]{0,3}){5}\p{Nd}(?=[^\p{L}\p{N},;:]{0,3}\p{Nd})/u;

/** Returns a customer's text as one line, as pages show it. Empty when there is nothing to see. */
export function oneLine(text: string): string {
  const line = withoutMarks(text.replace(/\s+/g, " ")).trim();
  return isBlank(line) ? "" : line;
}

/** Puts a space where a word of the text could be read as an address. */
function withBrokenWord(word: string): string {
  if (NUMBER.test(word)) return word;
  return word.replace(JOIN, (mark, at: number) => (at > 0 || SLASH.test(mark) ? `${mark} ` : mark));
}

/** Ends the text after six digits of what a phone could dial. */
function withoutNumbersToDial(text: string): string {
  const found = SIX_OF_MORE.exec(text);
  return found === null ? text : `${text.slice(0, found.index + found[0].length)}…`;
}

/**
 * Returns a customer's text as one line of at most 60 characters that our mails may quote. No mail program or phone makes
 * a link, an address or a telephone number of it: a space breaks what could be one, which stays readable. A space is not
 * seen as hidden text, as characters without width are by filters. Empty when there is nothing to see.
 */
export function quotable(text: string): string {
  // Broken in the form that is shown, because characters that are removed could have split an address.
  const broken = oneLine(text).split(" ").map(withBrokenWord).join(" ");
  return shortenedText(withoutNumbersToDial(broken), LENGTH_MAX);
}
