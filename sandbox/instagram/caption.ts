import { graphRefusal } from "../graph/errors.ts";
import type { GraphProblem } from "../graph/errors.ts";
import { textParameter } from "../graph/parameters.ts";
import type { Parameters } from "../graph/parameters.ts";

// developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/media, parameter `caption`
const LENGTH_MAX = 2200;
const HASHTAGS_MAX = 30;
const MENTIONS_MAX = 20;

export const BAD_CAPTION: GraphProblem = {
  message: "The caption was too long.",
  code: 36004,
  subcode: 2207010,
  userTitle: "Caption too long",
  userMessage:
    "The submitted image's caption was too long. The maximum number of characters permitted is 2,200. Maximum number of hashtags permitted is 30, maximum number of tags permitted is 20.",
};
export const TOO_MANY_TAGS: GraphProblem = {
  message: "Cannot use more than 20 tags.",
  code: 100,
  subcode: 2207040,
  userTitle: "Too many tags",
  userMessage: "Cannot use more than 20 tags per created media.",
};

const isWord = (character: string | undefined): boolean =>
  character !== undefined && /^[\p{L}\p{M}\p{N}_]$/u.test(character);

/** Counts the words that begin with a mark, read character by character. A mark behind a word is a part of it. */
function countMarked(text: string, mark: string): number {
  let count = 0;
  let before: string | undefined;
  const characters = Array.from(text);
  for (const [index, character] of characters.entries()) {
    const begins = character === mark && !isWord(before) && before !== "&" && before !== ".";
    if (begins && isWord(characters[index + 1])) count += 1;
    before = character;
  }
  return count;
}

export function checkedCaption(parameters: Parameters): string | null {
  const caption = textParameter(parameters, "caption");
  if (caption === undefined) return null;
  if (caption.length > LENGTH_MAX || countMarked(caption, "#") > HASHTAGS_MAX)
    throw graphRefusal(BAD_CAPTION);
  if (countMarked(caption, "@") > MENTIONS_MAX) throw graphRefusal(TOO_MANY_TAGS);
  return caption;
}
