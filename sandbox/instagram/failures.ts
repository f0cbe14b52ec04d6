import type { Answer, Exchange } from "../exchange.ts";
import type { GraphProblem } from "../graph/errors.ts";
import type { Refusals } from "../graph/failures.ts";
import { refusalAnswer } from "../graph/failures.ts";
import { INSTAGRAM_USE, tooManyCalls } from "../graph/usage.ts";
import { readParameters, textParameter } from "../graph/parameters.ts";
import { RESTRICTED } from "./access.ts";
import { BAD_CAPTION, TOO_MANY_TAGS } from "./caption.ts";
import { WRONG_FORMAT, unreachable } from "./media-check.ts";
import { QUOTA_REACHED } from "./publishing.ts";

const WRONG_VIDEO: GraphProblem = {
  message: "The video file you selected is in a format that we don't support.",
  code: 352,
  subcode: 2207026,
  userTitle: "Unsupported format",
  userMessage: "The video format is not supported. Please check the specifications.",
};

const REFUSALS: Refusals = {
  quota_exceeded: QUOTA_REACHED,
  permission_missing: {
    message: "(#10) Application does not have permission for this action",
    code: 10,
    status: 403,
  },
  account_restricted: RESTRICTED,
  content_rejected: {
    message: "Application request limit reached",
    code: 4,
    subcode: 2207051,
    status: 403,
    userTitle: "Action is blocked",
    userMessage: "We restrict certain activity to protect our community.",
  },
  text_too_long: BAD_CAPTION,
  text_invalid: TOO_MANY_TAGS,
  media_unreachable: unreachable("https://media.example/"),
  media_rejected: WRONG_FORMAT,
  media_processing_failed: {
    message: "The media could not be found.",
    code: -2,
    subcode: 2207020,
    userTitle: "Media expired",
    userMessage: "The media you are trying to access has expired. Please upload again.",
  },
};

/** The failure as Instagram would say it on this path. */
export function failureAnswer(
  code: string,
  exchange: Exchange,
  { subject, now }: { readonly subject: string; readonly now: number },
): Answer {
  if (code === "rate_limited") return tooManyCalls(INSTAGRAM_USE, subject, 1);
  const isVideo = textParameter(readParameters(exchange), "video_url") !== undefined;
  return refusalAnswer(code, now, isVideo ? { media_rejected: WRONG_VIDEO } : {}, REFUSALS);
}
