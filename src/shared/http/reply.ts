import type { Page } from "../runtime/page.ts";

/** An answer with its own status or headers, or without JSON, instead of `{data}` with the declared status. */
export class Reply {
  readonly status: number | undefined;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | Uint8Array | undefined;
  /** The error that a page tells of, for the log. */
  readonly refusal: unknown;

  constructor(parts: {
    readonly status?: number;
    readonly headers?: readonly (readonly [string, string])[];
    readonly body?: string | Uint8Array;
    readonly refusal?: unknown;
  }) {
    this.status = parts.status;
    this.headers = parts.headers ?? [];
    this.body = parts.body;
    this.refusal = parts.refusal;
  }
}

const JSON_TYPE = ["content-type", "application/json; charset=utf-8"] as const;

/** Makes an answer `{data}` with its own status or headers. */
export function withStatus(
  status: number,
  data: unknown,
  headers: readonly (readonly [string, string])[] = [],
): Reply {
  return new Reply({ status, headers: [JSON_TYPE, ...headers], body: JSON.stringify({ data }) });
}

/** Makes an answer of a JSON document without the envelope, such as the OpenAPI document. */
export function document(value: unknown): Reply {
  return new Reply({ headers: [JSON_TYPE], body: JSON.stringify(value) });
}

export function paged<T>(page: Page<T>): Reply {
  const { items, nextCursor, limit, about } = page;
  const position = { nextCursor, hasMore: nextCursor !== null, limit };
  const body = { data: items, page: position, ...about };
  return new Reply({ headers: [JSON_TYPE], body: JSON.stringify(body) });
}

/** Makes an answer of an image, which may be cached for `freshSeconds`: by anybody, or by its reader alone. */
export function image({
  bytes,
  contentType,
  freshSeconds,
  isPrivate,
}: {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly freshSeconds: number;
  readonly isPrivate: boolean;
}): Reply {
  return new Reply({
    headers: [
      ["content-type", contentType],
      ["cache-control", `${isPrivate ? "private" : "public"}, max-age=${freshSeconds}`],
      // A browser must treat it only as an image, and show it in no page of its own.
      ["content-disposition", "attachment"],
      ["content-security-policy", "default-src 'none'; sandbox"],
    ],
    body: bytes,
  });
}
