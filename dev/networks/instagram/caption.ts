import { graphRefusal } from "../graph/errors.ts";
import type { GraphProblem } from "../graph/errors.ts";
import { textParameter } from "../graph/parameters.ts";
import type { Parameters } from "../graph/parameters.ts";

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

function count(text: string, wanted: RegExp): number {
  return [...text.matchAll(wanted)].length;
}

export function checkedCaption(parameters: Parameters): string | null {
  const caption = textParameter(parameters, "caption");
  if (caption === undefined) return null;
  const hashtags = count(caption, /(?<![\w&])#[\p{L}\p{N}_]+/gu);
  if (caption.length > LENGTH_MAX || hashtags > HASHTAGS_MAX) throw graphRefusal(BAD_CAPTION);
  if (count(caption, /(?<![\w.])@[\w.]+/g) > MENTIONS_MAX) throw graphRefusal(TOO_MANY_TAGS);
  return caption;
}
