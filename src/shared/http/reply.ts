import type { Page } from "../runtime/page.ts";

/** An answer that differs from the declared status with `{data}`: other status, headers, or no JSON at all. */
export class Reply {
  readonly status: number | undefined;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | Uint8Array | undefined;

  constructor(parts: {
    readonly status?: number;
    readonly headers?: readonly (readonly [string, string])[];
    readonly body?: string | Uint8Array;
  }) {
    this.status = parts.status;
    this.headers = parts.headers ?? [];
    this.body = parts.body;
  }
}

const JSON_TYPE = ["content-type", "application/json; charset=utf-8"] as const;

/** `{data}` with a status or headers of its own. */
export function withStatus(
  status: number,
  data: unknown,
  headers: readonly (readonly [string, string])[] = [],
): Reply {
  return new Reply({ status, headers: [JSON_TYPE, ...headers], body: JSON.stringify({ data }) });
}

/** A JSON document that is no resource of ours and has no envelope: OpenAPI, OAuth client metadata. */
export function document(value: unknown): Reply {
  return new Reply({ headers: [JSON_TYPE], body: JSON.stringify(value) });
}

/** A list with its cursor. */
export function paged<T>(page: Page<T>): Reply {
  const { items, nextCursor, limit } = page;
  const body = { data: items, page: { nextCursor, hasMore: nextCursor !== null, limit } };
  return new Reply({ headers: [JSON_TYPE], body: JSON.stringify(body) });
}

export function htmlReply(
  text: string,
  options: {
    readonly status?: number;
    readonly headers?: readonly (readonly [string, string])[];
  } = {},
): Reply {
  return new Reply({
    status: options.status ?? 200,
    headers: [["content-type", "text/html; charset=utf-8"], ...(options.headers ?? [])],
    body: text,
  });
}

/** A picture that anyone may keep a copy of for a while. */
export function image({
  bytes,
  contentType,
  freshSeconds,
}: {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly freshSeconds: number;
}): Reply {
  return new Reply({
    headers: [
      ["content-type", contentType],
      ["cache-control", `public, max-age=${freshSeconds}`],
      // A browser must take it for nothing but a picture, whatever is in it.
      ["content-security-policy", "default-src 'none'; sandbox"],
    ],
    body: bytes,
  });
}
