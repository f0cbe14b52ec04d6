import { type ClassifiedAnswer, type ErrorRow, codes, errorTable } from "../contract/answers.ts";
import { provenRefusal, refusal, rows, subcodes } from "../contract/answers.ts";
import { OUTAGE, classifyFileStatus, classifyGraph, graphTable } from "../graph/errors.ts";
import type { HttpResponse } from "../../runtime/http-call.ts";

/** A personal account, or for stories one that is not a business. */
export const ACCOUNT_KIND = "instagram.account.kind";

const UNREACHABLE: ErrorRow = {
  code: "media_unreachable",
  effect: "later",
  rule: "instagram.media.unreachable",
};
/** The container ended or never existed. Only a new one can be published. */
const GONE: ErrorRow = { code: "media_processing_failed", effect: "prepare_again" };
/** "The media is not ready for publishing". The codes below say to publish the same container a minute later. */
const NOT_READY: ErrorRow = { code: "media_not_ready", effect: "prepare_again", isProof: true };
const RESTRICTED = refusal("account_restricted");

const media = (rule: string) => refusal("media_rejected", { rule });
const text = (rule: string) => refusal("text_invalid", { rule });

/**
 * https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/error-codes: every subcode
 * belongs to one code, so the subcode alone tells as much as the pair.
 */
export const ERRORS = graphTable("instagram", [
  // For a call, "Fatal" (2207085) only says that it failed. For a file see `STATUS_ERRORS`.
  ...subcodes(OUTAGE, 2207001, 2207032, 2207053, 2207085),
  ...subcodes(UNREACHABLE, 2207003, 2207052, 2207077, 2207082),
  ...subcodes(GONE, 2207006, 2207008, 2207020),
  ...subcodes(NOT_READY, 2207027),
  ...subcodes(media("instagram.media.size"), 2207004),
  ...subcodes(media("instagram.media.imageType"), 2207005),
  ...subcodes(media("instagram.media.ratio"), 2207009),
  ...subcodes(media("instagram.media.type"), 2207023),
  ...subcodes(media("instagram.media.videoType"), 2207026),
  ...subcodes(media("instagram.media.count"), 2207028),
  ...subcodes(media("instagram.media.thumbOffset"), 2207057),
  ...subcodes(text("instagram.text.caption"), 2207010),
  ...subcodes(text("instagram.text.mentions"), 2207040),
  ...subcodes(refusal("quota_exceeded"), 2207042),
  ...subcodes(RESTRICTED, 2207050),
  ...subcodes(refusal("content_rejected", { rule: "instagram.account.spam" }), 2207051),
  // "Invalid user id", for an account that is named as a collaborator.
  ...subcodes(refusal("invalid_request", { rule: "instagram.collaborators.invalid" }), 2207018),
  // Trial reels, which nothing here asks for.
  ...subcodes(refusal("invalid_request"), 2207081),
  ...rows(
    { ...RESTRICTED, rule: ACCOUNT_KIND },
    { code: 10, message: /not an instagram (?:business|professional)/i },
  ),
  // Both cover several subcodes: a server that failed, and a file or container that doesn't exist.
  ...codes(OUTAGE, -1),
  ...codes(GONE, -2, 24),
  ...codes(RESTRICTED, 25),
  ...codes(media("instagram.media.videoType"), 352),
  ...codes(UNREACHABLE, 9004),
  ...codes(NOT_READY, 9007),
  ...codes(media("instagram.media.size"), 36000),
  ...codes(media("instagram.media.imageType"), 36001),
  ...codes(media("instagram.media.ratio"), 36003),
  ...codes(text("instagram.text.caption"), 36004),
  ...rows(provenRefusal("media_rejected", { rule: "instagram.media.size" }), { status: 413 }),
]);

/**
 * Clients saw both in the status of videos that Instagram had but could not process
 * (https://github.com/gitroomhq/postiz-app/pull/2033).
 */
const STATUS_ERRORS = errorTable(
  subcodes({ code: "media_processing_failed", effect: "later" }, 2207082, 2207085),
  // What 2207052 says, without its number.
  rows(UNREACHABLE, { message: /\bdownload has failed\b/i }),
  ERRORS,
);

export function classify(response: HttpResponse, now: Date): ClassifiedAnswer {
  return classifyGraph(response, "instagram", ERRORS, now);
}

/** Returns why a container failed, by its status. */
export function classifyStatus(status: string): ClassifiedAnswer {
  return classifyFileStatus(status, STATUS_ERRORS, "later");
}
