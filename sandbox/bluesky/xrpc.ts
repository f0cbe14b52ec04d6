import { Refusal, json, readObject } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import type { RateUse } from "../rate-windows.ts";

export function xrpcError(status: number, error: string, message: string): Refusal {
  return new Refusal(json(status, { error, message }));
}

export function invalidRequest(message: string): Refusal {
  return xrpcError(400, "InvalidRequest", message);
}

/** The input of a procedure: a JSON object, sent as such. */
export function xrpcInput(exchange: Exchange): Record<string, unknown> {
  const type = exchange.headers["content-type"];
  if (type === undefined)
    throw invalidRequest("Request encoding (Content-Type) required but not provided");
  if (!type.toLowerCase().startsWith("application/json"))
    throw invalidRequest(`Wrong request encoding (Content-Type): ${type}`);
  const input = readObject(exchange);
  if (input === undefined) throw invalidRequest("Unable to decode request body as JSON object");
  return input;
}

export function requiredString(input: Record<string, unknown>, name: string): string {
  const value = input[name];
  if (typeof value !== "string") throw invalidRequest(`Missing required key "${name}" at $`);
  return value;
}

export function requiredParameter(exchange: Exchange, name: string): string {
  const value = exchange.query.get(name);
  if (value === null) throw invalidRequest(`Missing required key "${name}" at $`);
  return value;
}

export function rateLimitHeaders(use: RateUse): Record<string, string> {
  return {
    "ratelimit-limit": String(use.limit),
    "ratelimit-remaining": String(use.remaining),
    "ratelimit-reset": String(Math.ceil(use.resetAt / 1000)),
    "ratelimit-policy": `${use.limit};w=${use.windowMs / 1000}`,
  };
}

/** 429 as the reference server says it: the wait is in the RateLimit headers alone. */
export function tooManyRequests(use: RateUse): Answer {
  const body = { error: "RateLimitExceeded", message: "Rate Limit Exceeded" };
  return json(429, body, rateLimitHeaders(use));
}
