import { type MediaReason, MediaFailure } from "../networks/contract/media.ts";
import { type HttpRequest, type HttpResponse, HttpFailure } from "../runtime/http-call.ts";
import type { OpenedResponse } from "../runtime/outbound-body.ts";
import type { Outbound } from "../runtime/outbound.ts";

/** What fetches media files. It checks each address when it is dialled, those of redirects too. */
export type Dialler = Pick<Outbound, "request" | "open">;

const REDIRECTS_MAX = 2;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

export const unreachable = (message: string, cause?: unknown) =>
  new MediaFailure("media_unreachable", message, { cause });

export const refused = (reason: MediaReason, message: string, cause?: unknown) =>
  new MediaFailure("media_rejected", message, { reason, cause });

export const tooLarge = (bytesMax: number, cause?: unknown) =>
  refused("size", `larger than ${bytesMax} bytes`, cause);

/** Turns a call without an answer into a `MediaFailure`; returns other errors as they are. */
export function toMediaFailure(error: unknown): unknown {
  return error instanceof HttpFailure ? unreachable(error.reason, error) : error;
}

interface Answered {
  readonly status: number;
  readonly headers: HttpResponse["headers"];
}

interface Arrived<Answer> {
  readonly url: string;
  readonly answer: Answer;
}

/**
 * Asks for a file and follows up to two redirects, each checked like the first address. Returns the first answer that
 * is no redirect, whatever its status.
 */
export async function follow<Answer extends Answered>(
  url: string,
  ask: (url: string) => Promise<Answer>,
  leave: (answer: Answer) => void = () => undefined,
): Promise<Arrived<Answer>> {
  let address = url;
  for (let hop = 0; hop <= REDIRECTS_MAX; hop += 1) {
    const answer = await ask(address);
    const location = answer.headers["location"];
    if (!REDIRECTS.includes(answer.status) || location === undefined)
      return { url: address, answer };
    leave(answer);
    if (!URL.canParse(location, address)) throw unreachable("redirected to no address");
    address = new URL(location, address).href;
  }
  throw unreachable("redirected too often");
}

/** A compressed transfer would hide the file's size and shift its ranges. */
const HEADERS = { accept: "*/*", "accept-encoding": "identity" } as const;

export function mediaRequest(
  method: "GET" | "HEAD",
  url: string,
  headers: Readonly<Record<string, string>> = {},
): HttpRequest {
  return { method, url, headers: { ...HEADERS, ...headers } };
}

/** Opens a file, from its beginning or for a range. @throws MediaFailure when there is no answer */
export async function openResponse(
  dialler: Dialler,
  request: HttpRequest,
): Promise<Arrived<OpenedResponse>> {
  try {
    return await follow(
      request.url,
      (url) => dialler.open({ ...request, url }),
      (answer) => answer.cancel(),
    );
  } catch (error) {
    throw toMediaFailure(error);
  }
}

/** A file at its address after redirects. */
export interface RemoteFile {
  readonly dialler: Dialler;
  readonly url: string;
}

/** Returns the ETag or `Last-Modified`; null without one. Ignores weak tags, which don't promise the same bytes. */
export function versionOf({ headers }: Pick<OpenedResponse, "headers">): string | null {
  const { etag } = headers;
  if (etag !== undefined && etag !== "" && !etag.startsWith("W/")) return etag;
  return headers["last-modified"] ?? null;
}
