/* Names as they are searched by their beginning: in the keys of rows, without case and accents. */

/** Characters of a name that its key has. */
const FOLDED_MAX = 64;

/** What a key can't have and no search should need, next to white space. */
const SPACES = /[\s\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]+/gu;

/** Keys can't have some of these, and others have a meaning in keys or queries. */
const PUNCTUATION = /[!-/:-@[-`{-~]/gu;

/** Follows the name in a key. No folded name has it, and it sorts a name before those that it begins. */
const NAME_END = "  |";

/** Returns text without case and accents. Compatible forms of a letter are the same. */
export const foldText = (text: string) =>
  text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toUpperCase()
    .toLowerCase()
    // At the end of a word, the letter has a small form of its own.
    .replaceAll("ς", "σ");

/**
 * Returns the name as it stands in a key. The beginning of a name gives the beginning of the key. Keys sort as the
 * folded names do: spaces, punctuation, digits, letters. The result is "" for a name that has only marks.
 */
export function foldedName(name: string): string {
  const text = foldText(name).replace(SPACES, " ").trim();
  return Array.from(text)
    .slice(0, FOLDED_MAX)
    .join("")
    .trimEnd()
    .replace(PUNCTUATION, (mark) => `!${mark.charCodeAt(0).toString(16)}`);
}

/** Makes the part of a key that finds the thing of this id by its folded name. */
export const foldedNameKey = (folded: string, id: string) => `${folded}${NAME_END}${id}`;

/** Returns the id in a key that ends as `foldedNameKey` does. */
export const idOfNameKey = (key: string) => key.slice(key.lastIndexOf("|") + 1);
