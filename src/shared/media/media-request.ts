import { type MediaReason, MediaFailure } from "../networks/contract/media.ts";
import type { RedirectCookies } from "../networks/contract/redirect-cookies.ts";
import { type Arrival, followRedirects } from "../networks/contract/redirects.ts";
import { overHttps } from "../networks/contract/web-address.ts";
import { undelivered, unreachable } from "../networks/contract/unreachable.ts";
import { type HttpRequest, HttpFailure } from "../runtime/http-call.ts";
import type { OpenedResponse } from "../runtime/outbound-body.ts";
import type { Outbound } from "../runtime/outbound.ts";

/** Client that fetches media files. It checks every address that is dialled, also after a redirect. */
export type Dialler = Pick<Outbound, "request" | "open">;

export const mediaRefusal = (reason: MediaReason, message: string, cause?: unknown) =>
  new MediaFailure("media_rejected", message, { reason, cause });

export const tooLargeFile = (bytesMax: number, cause?: unknown) =>
  mediaRefusal("size", `larger than ${bytesMax} bytes`, cause);

/** Turns a call without an answer into a `MediaFailure`. Other errors are returned unchanged. */
export function toMediaFailure(error: unknown): unknown {
  return error instanceof HttpFailure ? undelivered(error) : error;
}

/** A compressed transfer would hide the file's size and shift its ranges. */
const HEADERS = { accept: "*/*", "accept-encoding": "identity" } as const;

export function mediaRequest(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): HttpRequest {
  return { method: "GET", url, headers: { ...HEADERS, ...headers } };
}

/** Opens a file, from its beginning or for a range. @throws MediaFailure when there is no answer */
export async function openResponse(
  { dialler, cookies }: Omit<RemoteFile, "url">,
  request: HttpRequest,
): Promise<Arrival<OpenedResponse>> {
  let arrived: Awaited<ReturnType<typeof followRedirects<OpenedResponse>>>;
  try {
    arrived = await followRedirects(
      request.url,
      (url, set) =>
        dialler.open({ ...request, url: overHttps(url), headers: { ...request.headers, ...set } }),
      { leave: (answer) => answer.cancel(), cookies },
    );
  } catch (error) {
    throw toMediaFailure(error);
  }
  if (typeof arrived === "string") throw unreachable(arrived);
  return arrived;
}

/** A file, with its URL after redirects, and the cookies that were set on the way to it. */
export interface RemoteFile {
  readonly dialler: Dialler;
  readonly url: string;
  readonly cookies: RedirectCookies;
}

/** Reports whether an answer has the whole file: from its server, or transformed on the way (RFC 9110, 15.3.4). */
export const isWholeFile = ({ status }: Pick<OpenedResponse, "status">) =>
  status === 200 || status === 203;

type WithHeaders = Pick<OpenedResponse, "headers">;

/** Returns the ETag or `Last-Modified`, or null. Weak tags are ignored, because they don't promise the same bytes. */
export function validatorOf({ headers }: WithHeaders): string | null {
  const { etag } = headers;
  if (etag !== undefined && etag !== "" && !etag.startsWith("W/")) return etag;
  return headers["last-modified"] ?? null;
}

/**
 * Returns a value that differs between two answers when the file has changed. Weak tags suffice (RFC 9110, 8.8.3.2).
 */
export function changeMark({ headers }: WithHeaders): string | null {
  return headers["etag"]?.replace(/^W\//, "") ?? headers["last-modified"] ?? null;
}

export interface ByteRange {
  readonly first: number;
  readonly last: number;
  /** Undefined when the server doesn't know it. */
  readonly size: number | undefined;
}

/** Returns the part of the file in an answer with status 206, or undefined when it names none or several. */
export function partOf({ headers }: WithHeaders): ByteRange | undefined {
  const range = /^bytes[ =](\d+)-(\d+)\/(\d+|\*)$/i;
  const [, first, last, size] = range.exec(headers["content-range"]?.trim() ?? "") ?? [];
  if (first === undefined || last === undefined) return undefined;
  return {
    first: Number(first),
    last: Number(last),
    size: size === "*" ? undefined : Number(size),
  };
}
