import * as z from "zod";
import { idOf } from "../runtime/fields.ts";
import { shape } from "../runtime/shape.ts";

/** Every request header that a route reads, except `Authorization` and `Content-Type`. */
export const REQUEST_HEADERS = {
  "X-Application-Id": shape(() =>
    idOf("application").describe(
      "The application that a dashboard session works on. It is ignored for keys, which always use their own application.",
    ),
  ),
  "X-Profile-Id": shape(() =>
    idOf("profile").describe(
      "The profile to act for, in the caller's application. `Profile-Id` is a synonym.",
    ),
  ),
  "X-Profile-Grant": shape(() =>
    z
      .string()
      .max(8_192)
      .describe(
        "A token from `POST /v1/profile-grants`, which lets a restricted key act for a profile that is not on its allowlist. Other callers' grants are ignored.",
      )
      .meta({ examples: ["eyJhbGciOiJIUzI1NiJ9.eyJwcmYiOiJwcmZfMDFNIn0.c2lnbmF0dXJl"] }),
  ),
  "Idempotency-Key": shape(() =>
    z
      .string()
      .min(8)
      .max(128)
      .regex(/^[\x21-\x2b\x2d-\x7e]{8,128}$/)
      .describe(
        "A value that you choose, without commas. Use a new one for every new post. Repeating a request with the same key returns the original post and doesn't publish or charge anything.",
      )
      .meta({ examples: ["order-20391-announcement"] }),
  ),
} as const;
export type RequestHeader = keyof typeof REQUEST_HEADERS;

export const ANSWER_HEADERS = {
  "X-Request-Id": shape(() =>
    z
      .string()
      .regex(/^[A-Za-z0-9._-]{8,64}$/)
      .describe("The request's own `X-Request-Id` if it has this form, otherwise a new one."),
  ),
  "Cache-Control": shape(() =>
    z.string().describe("`no-store`, or for a document or an image how long it may be cached."),
  ),
  "X-Content-Type-Options": shape(() =>
    z.literal("nosniff").describe("Browsers must not guess another content type."),
  ),
  "Strict-Transport-Security": shape(() =>
    z.string().describe("HTTPS only, for a year, subdomains included."),
  ),
  "RateLimit-Limit": shape(() =>
    z
      .int()
      .min(1)
      .describe(
        "Requests per minute of this caller or of all keys of its platform, depending on which has less left.",
      ),
  ),
  "RateLimit-Remaining": shape(() =>
    z.int().min(0).describe("Requests that are left at the moment."),
  ),
  "RateLimit-Reset": shape(() =>
    z.int().min(0).describe("Seconds until more requests are admitted."),
  ),
  "Retry-After": shape(() => z.int().min(0).describe("Seconds to wait before the next attempt.")),
  "WWW-Authenticate": shape(() => z.literal("Bearer").describe("The authentication scheme.")),
  "Idempotent-Replayed": shape(() =>
    z
      .literal("true")
      .describe("Set if the Idempotency-Key was used before: this is the original post."),
  ),
  "Accept-Encoding": shape(() =>
    z.literal("identity").describe("Set if the body was compressed: send it uncompressed."),
  ),
  Vary: shape(() =>
    z
      .enum(["Accept-Encoding", "Accept-Language"])
      .describe("The body depends on these request headers."),
  ),
  "Content-Encoding": shape(() =>
    z.enum(["br", "gzip"]).describe("Absent if the request accepts neither."),
  ),
  "Content-Disposition": shape(() => z.string().describe("The file name.")),
  Location: shape(() => z.string().describe("Where the browser continues.")),
} as const;
export type AnswerHeader = keyof typeof ANSWER_HEADERS;

/** Characters that a header can't have: those beyond ASCII, and control characters except the tab. */
const UNSENDABLE = /[^\t\x20-\x7e]+/g;

/**
 * Encodes text for a header: everything but visible ASCII is percent-encoded as UTF-8, as in a URL. The host would
 * answer any other text with 500 after the request has done its work.
 */
export function headerText(value: string): string {
  return value.replace(UNSENDABLE, (text) => encodeURIComponent(text.toWellFormed()));
}
