import { AppError } from "../runtime/errors.ts";

/** The one answer to too many requests, whatever was counted. */
export function rateLimited(retryAfter: number): AppError {
  return new AppError("rate_limited", `Too many requests. Try again in ${retryAfter} s.`, {
    details: { retryAfter },
    retryAfterSeconds: retryAfter,
  });
}
