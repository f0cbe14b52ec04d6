import type { Classified, ErrorRow } from "../classified.ts";
import { noteOf } from "../classified.ts";
import type { GraphTable } from "../graph/errors.ts";
import { OUTAGE, classifyGraph, classifyText } from "../graph/errors.ts";
import type { HttpResponse } from "../network.ts";

/** A personal account, or for stories one that is not a business. */
export const ACCOUNT_KIND = "instagram.account.kind";

/** Of a path or a container that Instagram does not know, or not from us. */
export const NOT_FOUND = "100/33";

const UNREACHABLE: ErrorRow = { code: "media_unreachable", effect: "later" };
/** The container ended or was never there: only a new one can be published. */
const GONE: ErrorRow = { code: "media_processing_failed", effect: "prepare_again" };
const NOT_READY: ErrorRow = { code: "media_not_ready", effect: "prepare_again" };
const RESTRICTED: ErrorRow = { code: "account_restricted", effect: "refuse" };

function media(rule: string): ErrorRow {
  return { code: "media_rejected", effect: "refuse", rule };
}

/**
 * https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/error-codes: every subcode is
 * of one code alone, so that it tells as much as the pair.
 */
const table: GraphTable = {
  pairs: {
    [NOT_FOUND]: { code: "permission_missing", effect: "refuse" },
  },
  subcodes: {
    2207001: OUTAGE,
    2207003: UNREACHABLE,
    2207004: media("instagram.media.size"),
    2207005: media("instagram.media.imageType"),
    2207006: GONE,
    2207008: GONE,
    2207009: media("instagram.media.ratio"),
    2207010: { code: "text_invalid", effect: "refuse", rule: "instagram.text.caption" },
    2207020: GONE,
    2207023: media("instagram.media.type"),
    2207026: media("instagram.media.videoType"),
    2207027: NOT_READY,
    2207028: media("instagram.media.count"),
    2207032: OUTAGE,
    2207040: { code: "text_invalid", effect: "refuse", rule: "instagram.text.mentions" },
    2207042: { code: "quota_exceeded", effect: "refuse" },
    2207050: RESTRICTED,
    2207051: { code: "content_rejected", effect: "refuse" },
    2207052: UNREACHABLE,
    2207053: OUTAGE,
    2207057: media("instagram.media.thumbOffset"),
    2207077: UNREACHABLE,
    2207081: { code: "invalid_request", effect: "refuse", rule: "instagram.reel.trial" },
    2207082: UNREACHABLE,
  },
  messages: [
    {
      number: 10,
      message: /not an instagram (?:business|professional)/i,
      ...RESTRICTED,
      rule: ACCOUNT_KIND,
    },
  ],
  codes: {
    24: GONE,
    25: RESTRICTED,
    352: media("instagram.media.videoType"),
    9004: UNREACHABLE,
    9007: NOT_READY,
    36000: media("instagram.media.size"),
    36001: media("instagram.media.imageType"),
    36003: media("instagram.media.ratio"),
    36004: { code: "text_invalid", effect: "refuse", rule: "instagram.text.caption" },
  },
};

export function classify(response: HttpResponse, now: Date): Classified {
  return classifyGraph(response, table, now);
}

/** What a container's status says of why it failed. */
export function classifyStatus(text: string): Classified {
  return (
    classifyText(text, table) ?? {
      code: "media_processing_failed",
      effect: "later",
      networkCode: null,
      note: noteOf(text),
      retryAfterSeconds: null,
    }
  );
}
