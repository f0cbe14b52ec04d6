import { Refusal, json } from "../exchange.ts";
import type { Answer } from "../exchange.ts";

export interface LinkedInProblem {
  readonly status: number;
  readonly message: string;
  readonly code?: string;
  readonly serviceErrorCode?: number;
  /** The field of the request that is wrong. */
  readonly field?: string;
}

export function linkedInError(problem: LinkedInProblem): Answer {
  const { status, message, code, serviceErrorCode, field } = problem;
  const named = code === undefined ? {} : { code };
  const numbered = serviceErrorCode === undefined ? {} : { serviceErrorCode };
  const input = { inputPath: { fieldPath: field } };
  const details =
    field === undefined
      ? {}
      : {
          errorDetailType: "com.linkedin.common.error.BadRequest",
          errorDetails: { inputErrors: [{ description: message, input, code }] },
        };
  return json(status, { status, ...numbered, ...named, message, ...details });
}

export function linkedInRefusal(problem: LinkedInProblem): Refusal {
  return new Refusal(linkedInError(problem));
}

/** A field that is there and of no use, in the codes of the posts API. */
export function badField(field: string, code: string, message: string): Refusal {
  return linkedInRefusal({ status: 400, code, message, field });
}

export function duplicateOf(urn: string): Answer {
  return json(422, {
    errorDetailType: "com.linkedin.common.error.BadRequest",
    message: `com.linkedin.content.common.exception.BadRequestResponseException: Content is a duplicate of ${urn}`,
    errorDetails: {
      inputErrors: [
        { description: "Duplicate post is detected", input: {}, code: "DUPLICATE_POST" },
      ],
    },
    status: 422,
  });
}

export function denied(what: string): LinkedInProblem {
  return {
    status: 403,
    serviceErrorCode: 100,
    code: "ACCESS_DENIED",
    message: `Not enough permissions to access: ${what}`,
  };
}

export const REVOKED: LinkedInProblem = {
  status: 401,
  serviceErrorCode: 65601,
  code: "REVOKED_ACCESS_TOKEN",
  message: "The token used in the request has been revoked by the user",
};

export const EXPIRED: LinkedInProblem = {
  status: 401,
  serviceErrorCode: 65602,
  code: "EXPIRED_ACCESS_TOKEN",
  message: "The token used in the request has expired",
};

export function throttled(level: "MEMBER DAY" | "APPLICATION MINUTE"): LinkedInProblem {
  return {
    status: 429,
    serviceErrorCode: 101,
    code: "TOO_MANY_REQUESTS",
    message: `Resource level throttle ${level} limit for calls to this resource is reached.`,
  };
}
