import type { Classified, ErrorRow } from "../classified.ts";
import { noteOf } from "../classified.ts";
import type { GraphTable } from "../graph/errors.ts";
import { OUTAGE, classifyGraph, classifyText } from "../graph/errors.ts";
import type { HttpResponse } from "../network.ts";

const DUPLICATE: ErrorRow = { code: "duplicate_content", effect: "refuse" };
const RESTRICTED: ErrorRow = { code: "account_restricted", effect: "refuse" };
const CONTENT: ErrorRow = { code: "content_rejected", effect: "refuse" };
const LINK: ErrorRow = { code: "link_rejected", effect: "refuse" };
/** Said alike of a file that Facebook can't read and of an address that it can't reach. */
const UNREADABLE: ErrorRow = { code: "media_unreachable", effect: "later" };
const IMAGE: ErrorRow = {
  code: "media_rejected",
  effect: "refuse",
  rule: "facebook.media.image",
};
const BROKEN_UPLOAD: ErrorRow = { code: "media_processing_failed", effect: "prepare_again" };

/** What a video is not taken as a reel or story for; as an ordinary video it may still be. */
const VIDEO_LIMITS = {
  1363040: "facebook.video.ratio",
  1363127: "facebook.video.resolution",
  1363128: "facebook.video.duration",
  1363129: "facebook.video.frameRate",
} as const;

/** A photo or page that Facebook does not show to us: not there yet, not any more, or not for this account. */
export const NOT_FOUND = "100/33";

const table: GraphTable = {
  pairs: {
    [NOT_FOUND]: { code: "permission_missing", effect: "refuse" },
    "190/492": { code: "permission_missing", effect: "refuse" },
    "324/2069019": UNREADABLE,
    "368/1404082": DUPLICATE,
    // For one to three days: no attempt of ours would come late enough.
    "368/1390008": { code: "rate_limited", effect: "refuse" },
    "368/4854002": RESTRICTED,
  },
  subcodes: {
    1346003: CONTENT,
    1349125: { code: "text_invalid", effect: "refuse", rule: "facebook.content.empty" },
    1363047: OUTAGE,
    1366046: IMAGE,
    1366051: DUPLICATE,
    1404078: RESTRICTED,
    1404102: CONTENT,
    1404112: RESTRICTED,
    1609005: LINK,
    1609008: LINK,
    1609010: OUTAGE,
    2061006: LINK,
    2069019: IMAGE,
    ...Object.fromEntries(
      Object.entries(VIDEO_LIMITS).map(([subcode, rule]): [string, ErrorRow] => [
        subcode,
        { code: "media_rejected", effect: "refuse", rule },
      ]),
    ),
  },
  messages: [
    { number: 100, message: /parameter too long/i, code: "text_invalid", effect: "refuse" },
  ],
  codes: {
    324: IMAGE,
    368: CONTENT,
    389: UNREADABLE,
    506: DUPLICATE,
    6000: BROKEN_UPLOAD,
  },
};

export function classify(response: HttpResponse, now: Date): Classified {
  return classifyGraph(response, table, now);
}

/** What a video's status says of why it failed. */
export function classifyStatus(text: string): Classified {
  return (
    classifyText(text, table) ?? {
      code: "media_processing_failed",
      effect: "refuse",
      networkCode: null,
      note: noteOf(text),
      retryAfterSeconds: null,
    }
  );
}

/** Whether the video is one that Facebook may still take in another form. */
export function isVideoLimit({ rule = "" }: { readonly rule?: string }): boolean {
  return Object.values<string>(VIDEO_LIMITS).includes(rule);
}
