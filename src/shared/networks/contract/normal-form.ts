/**
 * The marks that one letter may carry (Unicode's Stream-Safe Text Format has 30, UAX #15, section 13; no language needs
 * ten). Normalising sorts the marks of a letter in quadratic time: without an end to them, 64 KB take seconds.
 */
const MARKS_OF_LETTER = /\p{M}{30}(?=\p{M})/gu;
/** What the format puts between: it is not seen, and no mark is sorted past it. */
const GRAPHEME_JOINER = "\u034f";

/** The text in its composed form (NFC), in which one text is written in one way; in linear time for any text. */
export function composed(text: string): string {
  return text.replace(MARKS_OF_LETTER, `$&${GRAPHEME_JOINER}`).normalize("NFC");
}
