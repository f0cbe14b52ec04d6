import * as z from "zod";
import {
  ERROR_CATALOG,
  ERROR_CODES,
  type ErrorCode,
} from "../../src/shared/runtime/error-catalog.ts";
import { shape } from "../../src/shared/runtime/shape.ts";
import {
  withoutErrors,
  withProfileInPath,
  type AccessContract,
} from "../../src/shared/http/access/access-contract.ts";
import { detailsOfError } from "./error-details.ts";
import type { AnswerHeader } from "../../src/shared/http/headers.ts";
import type { Route } from "../../src/shared/http/route.ts";
import { isCalledByPrograms } from "../../src/shared/http/parse-input.ts";
import { refusesRepeats } from "../../src/shared/http/repeated-parameters.ts";

/** What a route may answer with one status. Anything else is an error of the route or of its declaration. */
export interface DeclaredAnswer {
  readonly status: number;
  readonly description: string;
  /** The whole JSON body, or undefined when there is none. */
  readonly body: z.ZodType | undefined;
  readonly isPage: boolean;
  readonly isImage: boolean;
  readonly isMarkdown: boolean;
  readonly isCsv: boolean;
  readonly codes: readonly ErrorCode[];
  readonly headers: readonly AnswerHeader[];
}

const STANDARD_HEADERS = [
  "X-Request-Id",
  "Cache-Control",
  "X-Content-Type-Options",
  "Strict-Transport-Security",
] as const;
const RATE_HEADERS = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"] as const;

const SUCCESS: Readonly<Record<number, string>> = {
  200: "Done.",
  201: "Created.",
  202: "Accepted.",
  204: "No content.",
  303: "See other.",
};

/** Returns the contract of the access rule as this route applies it. */
export function accessContractOf({ method, path, spec }: Route): AccessContract {
  // A user with an email to verify may read everything.
  const contract =
    method === "GET"
      ? withoutErrors(spec.access.contract, ["email_unverified"])
      : spec.access.contract;
  if (!path.includes("{profileId}")) return contract;
  const inPath = withProfileInPath(contract);
  return { ...inPath, errors: [...inPath.errors, "profile_header_mismatch"] };
}

function bodyErrors({ body, bodyKind, produces }: Route["spec"]): readonly ErrorCode[] {
  if (body === undefined) return [];
  // A page answers the problems of its form as a page.
  if (bodyKind === "form" && produces === "page") return [];
  return [
    "invalid_json",
    "length_required",
    "payload_too_large",
    "unsupported_media_type",
    "validation_failed",
  ];
}

function queryErrors(route: Route): readonly ErrorCode[] {
  const { spec } = route;
  if (spec.query === undefined && isCalledByPrograms(route)) return ["validation_failed"];
  const query = spec.query?.();
  if (!(query instanceof z.ZodObject)) return [];
  return "cursor" in query.shape ? ["validation_failed", "invalid_cursor"] : ["validation_failed"];
}

/** What every route answers when a header or parameter that may be sent once was repeated. */
const REPEAT_ERRORS = ["validation_failed", "idempotency_key_invalid"] as const;

/** Returns every code that the route can answer, in the order of the list of codes. */
export function errorsOfRoute(route: Route): readonly ErrorCode[] {
  const { spec } = route;
  const all = new Set<ErrorCode>([
    ...accessContractOf(route).errors,
    ...bodyErrors(spec),
    ...queryErrors(route),
    ...(refusesRepeats(route) ? REPEAT_ERRORS : []),
    ...(spec.errors ?? []),
  ]);
  return ERROR_CODES.filter((code) => all.has(code));
}

const requestId = shape(() =>
  z.string().describe("Quote it to support; it is in our log and in the X-Request-Id header."),
);

const docAddress = shape(() =>
  z.url().describe("Link to the code's description in this reference."),
);

/** Returns the name of an error's schema, which generated clients show: `not_found` → `NotFoundError`. */
function errorName(code: ErrorCode): string {
  const words = code.replace(/_error$/, "").split("_");
  return `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("")}Error`;
}

const errorBodies = shape(() => {
  const make = (code: ErrorCode) => {
    const { when } = ERROR_CATALOG[code];
    const error = z.strictObject({
      code: z.literal(code),
      message: z.string(),
      details: detailsOfError(code),
      requestId: requestId(),
      docUrl: docAddress(),
    });
    return z.strictObject({ error }).meta({ id: errorName(code), description: when });
  };
  return new Map(ERROR_CODES.map((code) => [code, make(code)]));
});

export function errorBody(codes: readonly ErrorCode[]): z.ZodType {
  const [first, ...rest] = codes.flatMap((code) => errorBodies().get(code) ?? []);
  if (first === undefined) throw new Error("an answer was declared without a code");
  return rest.length === 0 ? first : z.union([first, ...rest]);
}

/** The schema of any error, for the reference. */
export const anyError = shape(() =>
  z
    .strictObject({
      error: z.strictObject({
        code: z.enum(ERROR_CODES),
        message: z
          .string()
          .describe("In English, for developers. The text may change; the code doesn't."),
        details: z
          .record(z.string(), z.unknown())
          .describe("More about it, by code: the schema of each code has its own."),
        requestId: requestId(),
        docUrl: docAddress(),
      }),
    })
    .meta({
      id: "Error",
      description:
        "Every error has these fields. The descriptions of the answers name their codes, and each code also has a schema of its own, with its details.",
    }),
);

const listPage = shape(() =>
  z
    .strictObject({
      nextCursor: z.string().nullable().describe("Sent as `cursor` for the next page."),
      hasMore: z.boolean(),
      limit: z.int().min(1).max(100),
    })
    .meta({ id: "Page" }),
);

function successBody(spec: Route["spec"]): z.ZodType | undefined {
  const { response, list, produces } = spec;
  if (produces === "document") return z.record(z.string(), z.unknown());
  if (response === undefined) return undefined;
  if (list !== true) return z.strictObject({ data: response() });
  const about = spec.about?.() ?? {};
  return z.strictObject({ data: z.array(response()), page: listPage(), ...about });
}

function errorHeaders(status: number): readonly AnswerHeader[] {
  if (status === 401) return ["WWW-Authenticate"];
  if (status === 415) return ["Accept-Encoding"];
  return status === 429 || status === 503 ? ["Retry-After"] : [];
}

/** Returns the answers of the route by status. They follow from access, body, query and its own declaration. */
export function declaredAnswers(route: Route): readonly DeclaredAnswer[] {
  const { spec } = route;
  const isPage = spec.produces === "page";
  const counted = accessContractOf(route).credentials.length > 0;
  const common = [...STANDARD_HEADERS, ...(counted ? RATE_HEADERS : [])];
  const codes = errorsOfRoute(route);
  const described = spec.answers ?? { [spec.status]: SUCCESS[spec.status] ?? "" };
  const statuses = new Set([
    ...Object.keys(described).map(Number),
    ...codes.map((code) => ERROR_CATALOG[code].status),
  ]);
  return [...statuses]
    .sort((left, right) => left - right)
    .map((status) => {
      const own = codes.filter((code) => ERROR_CATALOG[code].status === status);
      const meanings = own.map((code) => `\`${code}\`: ${ERROR_CATALOG[code].when}`);
      const page = described[status];
      return {
        status,
        description: [...(page === undefined ? [] : [page]), ...meanings].join("\n\n"),
        body: own.length > 0 ? errorBody(own) : successBody(spec),
        isPage: isPage && page !== undefined && status !== 303,
        isImage: spec.produces === "image" && page !== undefined,
        isMarkdown: spec.produces === "markdown" && page !== undefined,
        isCsv: spec.produces === "csv" && page !== undefined,
        codes: own,
        headers: [
          ...common,
          ...(status < 300 ? (spec.answerHeaders ?? []) : []),
          ...(own.length > 0 && spec.answerHeaders?.includes("Vary") === true
            ? (["Vary"] as const)
            : []),
          ...(own.length > 0 ? errorHeaders(status) : []),
          ...(status === 303 ? (["Location"] as const) : []),
        ],
      };
    });
}
