import type { Answer, Exchange } from "../exchange.ts";
import { endedToken, graphError } from "../graph/errors.ts";
import type { GraphProblem } from "../graph/errors.ts";
import { readParameters, textParameter } from "../graph/parameters.ts";
import { RESTRICTED, tooManyCalls } from "./access.ts";
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

const REFUSALS: Readonly<Record<string, GraphProblem>> = {
  network_unavailable: {
    message: "An unexpected error has occurred. Please retry your request later.",
    code: 2,
    isTransient: true,
    status: 500,
  },
  quota_exceeded: QUOTA_REACHED,
  connection_needs_reauth: endedToken(460),
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
export function failureAnswer(code: string, exchange: Exchange, subject: string): Answer {
  if (code === "rate_limited") return tooManyCalls(subject, 1);
  const isVideo = textParameter(readParameters(exchange), "video_url") !== undefined;
  const refusal = isVideo && code === "media_rejected" ? WRONG_VIDEO : REFUSALS[code];
  return graphError(refusal ?? { message: `(#100) The sandbox refuses this (${code})`, code: 100 });
}
