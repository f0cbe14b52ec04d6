import type * as z from "zod";
import type { RequestScope } from "../callers/scope.ts";
import type { AppError, ErrorCode, Issue } from "../runtime/errors.ts";
import type { Page } from "../runtime/page.ts";
import type { Shape } from "../runtime/shape.ts";
import type { Access } from "./access/access.ts";
import type { HttpDeps } from "./deps.ts";
import type { AnswerHeader, RequestHeader } from "./headers.ts";
import type { Reply } from "./reply.ts";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** The parameters that a path names: `v1/posts/{postId}` → `{ postId: string }`. */
type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name]: string } & ParamsOf<Rest>
  : unknown;

/** What a verb is called with. */
export interface RouteCall<Scope, Params, Body, Query> {
  readonly services: HttpDeps;
  readonly scope: Scope;
  readonly params: Params;
  readonly body: Body;
  readonly query: Query;
  readonly headers: Headers;
}

/** A type in which nothing can be changed. */
type Immutable<T> = T extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Immutable<T[Key]> }
    : T;

/** Examples for the reference. They have the schemas' own types, and a test parses them. */
interface Examples<BodyInput, Result> {
  readonly body?: Immutable<BodyInput>;
  /** The contents of `data`, or one item of a list. */
  readonly answer?: Immutable<Result>;
}

type Later<T> = T | Promise<T>;

/** A call whose body doesn't fit its schema. Any field may be missing or wrong. */
export interface UnparsedCall<Scope> {
  readonly services: HttpDeps;
  readonly scope: Scope;
  readonly params: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What a route accepts and answers. Requests are checked against it, and the reference and the tests read it. */
interface RouteContract<Scope, Body, BodyInput, Query, Result> {
  /** In camelCase. It never changes, because generated clients name their methods after it. */
  readonly operationId: string;
  /** The title in the reference: an imperative without a full stop. */
  readonly summary: string;
  /**
   * Who calls it, if no program of a customer does: browsers or a network. The OpenAPI document and so all generated
   * clients leave it out, and the reference lists its address.
   */
  readonly calledBy?: string;
  /** Further description, in Markdown. */
  readonly description?: string;
  readonly access: Access<Scope>;
  /** Headers that the verb requires, in addition to those of the access rule. */
  readonly headers?: readonly RequestHeader[];
  readonly body?: Shape<z.ZodType<Body, BodyInput>>;
  /** `form`: an HTML form of the hosted page instead of JSON. */
  readonly bodyKind?: "json" | "form";
  readonly query?: Shape<z.ZodType<Query>>;
  /**
   * Returns issues that the schema can't report, because they depend on the time, the settings or stored rows. Called
   * when the schema refuses something, so that one answer reports everything. Returns none for what doesn't exist,
   * because the request is refused anyway.
   */
  moreIssues?(call: UnparsedCall<Scope>): Later<readonly Issue[]>;
  /** Fields that a browser sends to the hosted page, in its address or form, if the verb checks them itself. */
  readonly browserFields?: Shape<z.ZodObject>;
  /** The status of a success. The default is 200. */
  readonly status?: number;
  /** The contents of `data`, or one item of a list. Absent when the answer is not JSON. */
  readonly response?: Shape<z.ZodType<Result>>;
  /** `document`: JSON without the envelope. `page`: HTML, also for the verb's errors. `image`, `markdown`, `csv`: as named. */
  readonly produces?: "data" | "document" | "page" | "image" | "markdown" | "csv";
  /** The meaning of each status, if several mean success, and of every status of a page. */
  readonly answers?: Readonly<Record<number, string>>;
  readonly answerHeaders?: readonly AnswerHeader[];
  /** Codes of the verb's own refusals, in addition to those of access, body and query. */
  readonly errors?: readonly ErrorCode[];
  readonly examples?: () => Examples<NoInfer<BodyInput>, NoInfer<Result>>;
}

/**
 * A route that answers one value. A plain result becomes `{data}` with the declared status; a `Reply` is sent as is.
 */
interface Single<Made, Result> {
  readonly list?: false;
  run(call: Made): Later<NoInfer<Immutable<Result>> | Reply>;
}
/** A route that answers a list. A page becomes `{data, page}`, with the page's further fields next to them. */
interface List<Made, Result> {
  readonly list: true;
  /** The fields that the answer may have next to `data` and `page`. */
  readonly about?: () => Readonly<Record<string, z.ZodType>>;
  run(call: Made): Later<Page<NoInfer<Immutable<Result>>>>;
}

/** Facts about a call that was refused before its verb ran. */
export interface RefusedCall extends RequestScope {
  readonly services: HttpDeps;
  readonly headers: Headers;
}

interface Refusing {
  /** Answers a call that was refused before the verb ran, if the caller can't read the envelope. */
  refused?(error: AppError, call: RefusedCall): Promise<Reply>;
}

type RouteSpec<Path extends string, Scope, Body, BodyInput, Query, Result> = RouteContract<
  Scope,
  Body,
  BodyInput,
  Query,
  Result
> &
  Refusing &
  (
    | Single<RouteCall<Scope, ParamsOf<Path>, Body, Query>, Result>
    | List<RouteCall<Scope, ParamsOf<Path>, Body, Query>, Result>
  );

export interface RouteKey {
  readonly method: Method;
  readonly path: string;
}

/** One route as a value: who may call it, what it accepts and answers, and which verb it runs. */
export interface Route extends RouteKey {
  readonly spec: RouteContract<unknown, unknown, unknown, unknown, unknown> &
    Refusing & {
      readonly status: number;
      readonly list?: boolean;
      readonly about?: () => Readonly<Record<string, z.ZodType>>;
      run(call: RouteCall<unknown, unknown, unknown, unknown>): unknown;
    };
}

/** Declares a route. The types of `params` and of the result follow from the path and from `response`. */
export function route<
  Path extends string,
  Scope,
  Body = undefined,
  BodyInput = undefined,
  Query = undefined,
  Result = unknown,
>(method: Method, path: Path, spec: RouteSpec<Path, Scope, Body, BodyInput, Query, Result>): Route {
  // `run-route.ts` calls `run` only with what this spec's own access and schemas produced.
  return { method, path, spec: { status: 200, ...spec } };
}

/**
 * Returns the methods that a route answers. GET includes HEAD (RFC 9110, 9.3.2), which networks send before they fetch
 * a file. The web server leaves out the body.
 */
export function methodsOf({ method }: RouteKey): readonly (Method | "HEAD")[] {
  return method === "GET" ? ["GET", "HEAD"] : [method];
}

const pathSegments = (path: string) => path.split("/").filter((segment) => segment !== "");
const isParam = (segment: string) => segment.startsWith("{");

/** Matches a path against a route's template. Literal segments ignore case, as on the host. */
function match(template: string, path: string): Record<string, string> | undefined {
  const [wanted, given] = [pathSegments(template), pathSegments(path)];
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const text = given[index] ?? "";
    if (isParam(segment)) params[segment.slice(1, -1)] = text;
    else if (segment.toLowerCase() !== text.toLowerCase()) return undefined;
  }
  return params;
}

/** Sorts literal segments before parameters, the first segment first. */
const literalness = (route: RouteKey) =>
  pathSegments(route.path)
    .map((segment) => (isParam(segment) ? "0" : "1"))
    .join("");

export interface RouteMatch<Of extends RouteKey> {
  readonly route: Of;
  readonly params: Readonly<Record<string, string>>;
}

/** Returns the routes whose path matches, with any method, the most literal first. `path` has no prefix. */
export function matchPath<Of extends RouteKey>(
  routes: readonly Of[],
  path: string,
): RouteMatch<Of>[] {
  return routes
    .flatMap((route) => {
      const params = match(route.path, path);
      return params === undefined ? [] : [{ route, params }];
    })
    .sort((left, right) => literalness(right.route).localeCompare(literalness(left.route)));
}

export interface Chapter {
  readonly name: string;
  readonly about: string;
  readonly routes: readonly Route[];
}
