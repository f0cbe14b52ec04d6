import type { Answer, Exchange } from "../exchange.ts";
import type { GraphProblem } from "../graph/errors.ts";
import type { Refusals } from "../graph/failures.ts";
import { refusalAnswer } from "../graph/failures.ts";
import { PAGE_USE, tooManyCalls } from "../graph/usage.ts";

const DAY_MINUTES = 24 * 60;

const video = (subcode: number, userMessage: string): GraphProblem => ({
  message: "Invalid parameter",
  code: 100,
  subcode,
  userTitle: "Video can't be published",
  userMessage,
});

const invalid = (subcode: number, userTitle: string, userMessage: string): GraphProblem => ({
  message: "Invalid parameter",
  code: 100,
  subcode,
  userTitle,
  userMessage,
});

const REFUSALS: Refusals = {
  permission_missing: {
    message:
      "Error validating access token: The user must be an administrator, editor, or moderator of the page in order to impersonate it.",
    code: 190,
    subcode: 492,
  },
  account_restricted: {
    message: "The action attempted has been deemed abusive or is otherwise disallowed",
    code: 368,
    subcode: 4854002,
    userTitle: "Confirm your identity",
    userMessage: "To keep posting, confirm your identity.",
  },
  duplicate_content: { message: "(#506) Duplicate status message", code: 506 },
  content_rejected: {
    message: "The action attempted has been deemed abusive or is otherwise disallowed",
    code: 368,
    subcode: 1346003,
    userTitle: "Content can't be shared",
    userMessage: "Your content couldn't be shared because it goes against our standards.",
  },
  text_too_long: { message: "(#100) Name parameter too long", code: 100 },
  text_invalid: { message: "(#100) Name parameter too long", code: 100 },
  link_rejected: invalid(1609005, "Link error", "Error scraping data from link."),
  media_unreachable: {
    message: "(#324) Missing or invalid image file",
    code: 324,
    subcode: 2069019,
    userTitle: "Missing or invalid image file",
    userMessage: "The photo could not be read.",
  },
  media_rejected: invalid(1366046, "Can't Read Files", "Your photos couldn't be uploaded."),
  media_processing_failed: {
    message: "There was a problem uploading your video file. Please try again.",
    code: 6000,
    subcode: 1363019,
  },
};

const VIDEO_REFUSALS: Refusals = {
  media_unreachable: { message: "(#389) Unable to fetch video file from URL.", code: 389 },
  media_rejected: video(1363128, "The video must be 3 to 90 seconds long."),
};

/** The failure as Graph would say it on this path. */
export function failureAnswer(
  code: string,
  { path }: Exchange,
  { subject, now }: { readonly subject: string; readonly now: number },
): Answer {
  if (code === "rate_limited") return tooManyCalls(PAGE_USE, subject, 1);
  if (code === "quota_exceeded") return tooManyCalls(PAGE_USE, subject, DAY_MINUTES);
  const isVideo = /\/video(s|_reels|_stories)$/.test(path);
  return refusalAnswer(code, now, isVideo ? VIDEO_REFUSALS : {}, REFUSALS);
}
