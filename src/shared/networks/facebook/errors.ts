import { type ClassifiedAnswer, type ErrorRow, type TableRow } from "../contract/answers.ts";
import { codes, lostFile, refusal, rows, subcodes, provenRefusal } from "../contract/answers.ts";
import { OUTAGE, classifyFileStatus, classifyGraph, graphTable } from "../graph/errors.ts";
import type { HttpResponse } from "../../runtime/http-call.ts";

const DUPLICATE = refusal("duplicate_content");
const RESTRICTED = refusal("account_restricted");
const CONTENT = refusal("content_rejected");
const LINK = refusal("link_rejected");
/** Facebook gives the same error for a file that it can't read and an address that it can't reach. */
const UNREADABLE: ErrorRow = { code: "media_unreachable", effect: "later" };
const UNREACHABLE: ErrorRow = { ...UNREADABLE, rule: "facebook.media.unreachable" };
const IMAGE = refusal("media_rejected", { rule: "facebook.media.image" });
const VIDEO = refusal("media_rejected");
const TYPE = "facebook.media.type";
const SIZE = "facebook.media.size";
const FAILED_UPLOAD: ErrorRow = {
  ...VIDEO,
  code: "media_processing_failed",
  effect: "prepare_again",
};
const EMPTY = refusal("text_invalid", { rule: "facebook.content.empty" });

const ROLE = refusal("permission_missing", { rule: "facebook.account.role" });
const HIDDEN = refusal("invalid_request", { rule: "facebook.post.hidden" });
/** Facebook asks for a pause of one to three days, so no attempt of ours would come late enough. */
const PAUSE = refusal("rate_limited", { rule: "facebook.account.pause" });

/**
 * Why a video is not accepted as a reel or story. It may still be an ordinary video. These refusals are about the size
 * and form of the upload (https://developers.facebook.com/docs/video-api/guides/reels-publishing), so they are a proof.
 */
const VIDEO_LIMITS = {
  1363040: "facebook.video.ratio",
  1363127: "facebook.video.resolution",
  1363128: "facebook.video.duration",
  1363129: "facebook.video.frameRate",
} as const;

/**
 * https://developers.facebook.com/docs/graph-api/guides/error-handling, the error codes of a page's edges `feed`,
 * `photos` and `videos`, and the subcodes that clients have seen.
 */
const OWN: readonly TableRow[] = [
  // The token is checked before anything else, and both say that it is not one of the page any more.
  ...rows({ ...ROLE, isProof: true }, { code: 190, subcode: 492 }),
  // One page is refused while others of the same person work: https://github.com/gitroomhq/postiz-app/pull/1912.
  ...rows(
    { ...ROLE, isProof: true },
    {
      code: 190,
      message: /before impersonating a user's page/i,
    },
  ),
  ...rows(UNREADABLE, { code: 324, subcode: 2069019 }),
  ...rows(DUPLICATE, { code: 368, subcode: 1404082 }),
  ...rows(PAUSE, { code: 368, subcode: 1390008 }),
  ...rows({ ...RESTRICTED, rule: "facebook.account.identity" }, { code: 368, subcode: 4854002 }),
  ...subcodes(EMPTY, 1349125),
  ...subcodes(CONTENT, 1346003, 1404102),
  ...subcodes(DUPLICATE, 1366051),
  // An endpoint, a field or a feature that doesn't exist; a person's token instead of a page's.
  ...subcodes(refusal("feature_unsupported"), 2069030, 2069031, 2069033),
  // The same without its subcode: https://github.com/criso/fbgraph/issues/147.
  ...rows(refusal("invalid_request"), { codes: [200, 299], message: /new pages experience/i }),
  ...subcodes(provenRefusal("app_misconfigured"), 2069032),
  ...subcodes({ ...RESTRICTED, rule: "facebook.account.publishingAuthorization" }, 1404078),
  ...subcodes({ ...RESTRICTED, rule: "facebook.account.limited" }, 1404112),
  ...subcodes({ ...RESTRICTED, rule: "facebook.account.securityCheck" }, 1404006),
  ...subcodes(LINK, 1609005, 1609008, 2061006),
  ...subcodes(OUTAGE, 1363047, 1609010),
  ...subcodes(IMAGE, 1366046, 2069019),
  ...Object.entries(VIDEO_LIMITS).flatMap(([subcode, rule]) =>
    subcodes(provenRefusal("media_rejected", { rule }), Number(subcode)),
  ),
  // Meta's Video API, "Error Codes", as seen in https://github.com/restfb/restfb/issues/242 and
  // https://github.com/arsduo/koala/issues/262: a file's size, format and length; an upload that failed, timed out or
  // lost its place; a person who may not upload.
  ...subcodes({ ...VIDEO, rule: TYPE }, 1363024),
  ...subcodes({ ...VIDEO, rule: "facebook.media.duration" }, 1363025, 1363026),
  ...subcodes(FAILED_UPLOAD, 1363019, 1363030, 1363037),
  // These three are of the phase that only begins an upload.
  ...subcodes({ ...VIDEO, isProof: true }, 1363022),
  ...subcodes({ ...VIDEO, rule: SIZE, isProof: true }, 1363023),
  ...subcodes({ ...ROLE, isProof: true }, 1363042),
  ...rows(refusal("text_invalid"), { code: 100, message: /parameter too long/i }),
  // The person's role on the page doesn't allow videos. This error has no subcode.
  ...rows(ROLE, { code: 100, message: /no permission to publish/i }),
  // Graph says so of a comment, with a number of missing permissions: https://github.com/nov/fb_graph/issues/9.
  ...rows(HIDDEN, { code: 210, message: /not visible/i }),
  // "Requires upload file", sometimes, for files that are there: https://github.com/facebookarchive/php-graph-sdk/issues/923.
  ...rows(lostFile("facebook"), { code: 324, message: /requires upload file/i }),
  ...codes(EMPTY, 197),
  ...codes(IMAGE, 324),
  // Facebook uses 368 for many reasons, not always with a subcode.
  ...rows(DUPLICATE, { code: 368, message: /already posted|same content|duplicate/i }),
  ...rows(PAUSE, {
    code: 368,
    message: /temporarily blocked|too (?:fast|often)|misus/i,
  }),
  ...codes(CONTENT, 368),
  ...codes({ ...VIDEO, rule: TYPE }, 352),
  // 382 means too small.
  ...codes(VIDEO, 351, 382),
  ...codes(UNREACHABLE, 389),
  ...codes(FAILED_UPLOAD, 381, 390),
  ...codes(DUPLICATE, 506),
  ...codes(LINK, 1500),
  // "There was an error posting to this wall", also for a comment.
  ...codes(refusal("invalid_request"), 1705),
  ...codes({ code: "media_processing_failed", effect: "prepare_again" }, 6000, 6001),
  ...rows(provenRefusal("media_rejected", { rule: SIZE }), { status: 413 }),
];

/** "All API calls from an app made after a rate limit is exceeded are throttled and will fail" (Graph API, "Rate Limiting"). */
export const ERRORS = graphTable("facebook", OWN, { isProof: true });

export function classify(response: HttpResponse, now: Date): ClassifiedAnswer {
  return classifyGraph(response, "facebook", ERRORS, now);
}

/** Returns why a video failed, by its status. */
export function classifyStatus(text: string): ClassifiedAnswer {
  return classifyFileStatus(text, ERRORS, "refuse");
}

/** Reports whether Facebook may still accept the video in another form. */
export function isVideoLimit({ rule = "" }: { readonly rule?: string }): boolean {
  return Object.values<string>(VIDEO_LIMITS).includes(rule);
}
