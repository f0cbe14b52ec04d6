import { randomBytes } from "node:crypto";
import { Refusal, json } from "../exchange.ts";
import type { Answer } from "../exchange.ts";

export interface GraphProblem {
  readonly message: string;
  readonly code: number;
  readonly subcode?: number;
  /** `OAuthException` when absent. */
  readonly type?: string;
  /** 400 when absent. */
  readonly status?: number;
  readonly isTransient?: boolean;
  /** Meta's words for the person in front of the screen. */
  readonly userTitle?: string;
  readonly userMessage?: string;
}

function traceId(): string {
  return `A${randomBytes(16).toString("base64url")}`;
}

/** An error in the envelope that every Graph call shares. */
export function graphError(
  problem: GraphProblem,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const { message, code, subcode, isTransient, userTitle, userMessage } = problem;
  const error = {
    message,
    type: problem.type ?? "OAuthException",
    code,
    ...(subcode === undefined ? {} : { error_subcode: subcode }),
    ...(isTransient === undefined && userTitle === undefined
      ? {}
      : { is_transient: isTransient ?? false }),
    ...(userTitle === undefined ? {} : { error_user_title: userTitle }),
    ...(userMessage === undefined ? {} : { error_user_msg: userMessage }),
    fbtrace_id: traceId(),
  };
  return json(problem.status ?? 400, { error }, headers);
}

export function graphRefusal(problem: GraphProblem): Refusal {
  return new Refusal(graphError(problem));
}

/** A parameter that is missing or of no use. */
export function badParameter(message: string): Refusal {
  return graphRefusal({ message: `(#100) ${message}`, code: 100 });
}

/** What Graph says of an id that is unknown, or that the caller may not see. */
export function noSuchObject(id: string, method = "get"): Refusal {
  return graphRefusal({
    message: `Unsupported ${method} request. Object with ID '${id}' does not exist, cannot be loaded due to missing permissions, or does not support this operation. Please read the Graph API documentation at https://developers.facebook.com/docs/graph-api`,
    type: "GraphMethodException",
    code: 100,
    subcode: 33,
  });
}

export const NO_TOKEN: GraphProblem = {
  message: "An access token is required to request this resource.",
  code: 104,
  status: 401,
};

export const UNKNOWN_TOKEN: GraphProblem = {
  message: "Invalid OAuth access token - Cannot parse access token",
  code: 190,
  status: 401,
};

function graphTime(milliseconds: number): string {
  const date = new Date(milliseconds);
  const day = new Intl.DateTimeFormat("en-US", {
    weekday: "long",
    day: "2-digit",
    month: "short",
    year: "2-digit",
    timeZone: "UTC",
  });
  return `${day.format(date)} ${date.toISOString().slice(11, 19)} UTC`;
}

export function expiredToken(expiredAt: number, now: number): GraphProblem {
  return {
    message: `Error validating access token: Session has expired on ${graphTime(expiredAt)}. The current time is ${graphTime(now)}.`,
    code: 190,
    subcode: 463,
    status: 401,
  };
}

const ENDED: Readonly<Record<number, string>> = {
  458: "Error validating access token: The user has not authorized the application.",
  460: "Error validating access token: The session has been invalidated because the user changed their password or Facebook has changed the session for security reasons.",
  467: "Error validating access token: This may be because the user logged out or may be due to a system error.",
  492: "Error validating access token: The session is invalid because the user no longer has a role on the Page.",
};

/** A token that was ended before its time; the subcode says why. */
export function endedToken(subcode: number): GraphProblem {
  const message = ENDED[subcode] ?? "Error validating access token.";
  return { message, code: 190, subcode, status: 401 };
}
