import { composed } from "../../networks/contract/text.ts";
import { foldText } from "../../runtime/folded-name.ts";

/** Shorter words are in too many passwords by chance. */
const WORD_LENGTH_MIN = 3;
/** Names and addresses have fewer; this bounds the work. */
const WORDS_MAX = 60;
/** How many characters a password needs in addition to words that a guesser would try first. */
const OTHER_CHARACTERS_MIN = 8;

/** What people put between words or at the end of them. */
const SEPARATORS = /[\s\p{Pd}\p{Pc}.,;:!?'’"/\\|+&@·]+/u;

const folded = (text: string) => foldText(composed(text));

/** Returns the words of texts, and each text as one word. */
export function wordsOf(texts: readonly string[]): string[] {
  const words = texts.flatMap((text) => {
    // An address has two parts, and each may be written as one word.
    const parts = folded(text)
      .split("@")
      .map((part) => part.split(SEPARATORS));
    return [parts.flat().join(""), ...parts.map((part) => part.join("")), ...parts.flat()];
  });
  const isLong = (word: string) => word.length >= WORD_LENGTH_MIN;
  return [...new Set(words.filter(isLong))].slice(0, WORDS_MAX);
}

/**
 * Reports whether a password has one of the words, and too little else. Case, accents and separators don't count.
 * `words` are those of `wordsOf`.
 */
export function isMadeOfWords(password: string, words: readonly string[]): boolean {
  const text = folded(password).split(SEPARATORS).join("");
  // The fewest characters that can be left of each beginning of the text.
  const left = [0];
  for (let end = 1; end <= text.length; end += 1) {
    const ending = words.filter((word) => text.endsWith(word, end));
    const without = ending.map((word) => left[end - word.length] ?? 0);
    left.push(Math.min((left[end - 1] ?? 0) + 1, ...without));
  }
  const fewest = left.at(-1) ?? 0;
  return fewest < text.length && fewest < OTHER_CHARACTERS_MIN;
}
