import type { IncomingHttpHeaders } from "node:http";

/** One request as a sandbox network sees it: already at home on the host that the caller meant to reach. */
export interface Exchange {
  readonly method: string;
  /** Lower case, without port. */
  readonly host: string;
  /** A browser came to the sandbox's own address, so `host` is only the network's usual one. */
  readonly direct: boolean;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly params: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
}

/** Thrown anywhere below a route to end it with an answer. */
export class Refusal extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super(`refused with ${answer.status}`);
    this.name = "Refusal";
    this.answer = answer;
  }
}

export function json(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
    body: JSON.stringify(body),
  };
}

export function htmlPage(status: number, body: string): Answer {
  return {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "x-content-type-options": "nosniff",
      "content-security-policy":
        "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; media-src 'self'; frame-ancestors 'none'",
    },
    body,
  };
}

export function empty(status: number, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers };
}

/** The parsed object, or undefined when the body is no JSON object. */
export function readObject(exchange: Exchange): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(exchange.body.toString("utf8"));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function bearerToken(exchange: Exchange): string | undefined {
  return /^Bearer (\S+)$/i.exec(exchange.headers.authorization ?? "")?.[1];
}
