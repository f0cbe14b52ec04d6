import type * as z from "zod";
import type { RequestScope } from "../callers/scope.ts";
import type { AppError, ErrorCode, Issue } from "../runtime/errors.ts";
import type { Page } from "../runtime/page.ts";
import type { HttpDeps } from "./deps.ts";
import type { Shape } from "../runtime/shape.ts";
import type { Access } from "./access/access.ts";
import type { AnswerHeader, RequestHeader } from "./headers.ts";
import type { Reply } from "./reply.ts";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** The parameters that a path names: `v1/posts/{postId}` → `{ postId: string }`. */
type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name]: string } & ParamsOf<Rest>
  : unknown;

interface Call<Scope, Params, Body, Query> {
  readonly services: HttpDeps;
  readonly scope: Scope;
  readonly params: Params;
  readonly body: Body;
  readonly query: Query;
  readonly headers: Headers;
}

/** What answers are made of: as their schema says, and nobody changes them. */
type Immutable<T> = T extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Immutable<T[Key]> }
    : T;

/** True ones: they are of the schemas' own types, and a test parses them. */
interface Examples<BodyInput, Result> {
  readonly body?: Immutable<BodyInput>;
  /** What `data` holds; of a list one item. */
  readonly answer?: Immutable<Result>;
}

type Later<T> = T | Promise<T>;

/** A call whose body its schema does not take: any field of it may be missing or wrong. */
export interface Unparsed<Scope> {
  readonly services: HttpDeps;
  readonly scope: Scope;
  readonly params: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What is asked and answered, for the requests themselves, for the reference and for the tests. */
interface RouteContract<Scope, Body, BodyInput, Query, Result> {
  /** In camelCase and never changed: generated clients name their methods after it. */
  readonly operationId: string;
  /** One line for the reference. */
  readonly summary: string;
  /** What the summary leaves open; Markdown. */
  readonly description?: string;
  readonly access: Access<Scope>;
  /** Headers that the verb itself requires, on top of those of the access rule. */
  readonly headers?: readonly RequestHeader[];
  readonly body?: Shape<z.ZodType<Body, BodyInput>>;
  /** `form`: an HTML form of the hosted page instead of JSON. */
  readonly bodyKind?: "json" | "form";
  readonly query?: Shape<z.ZodType<Query>>;
  /**
   * Told beside what the schema refuses: what the verb would refuse next, because it takes the clock, the settings or
   * other fields to see it. Asked only when the schema refuses something; the verb judges the rest itself. What is not
   * there is no issue: the request is refused anyway.
   */
  issuesBeside?(call: Unparsed<Scope>): Later<readonly Issue[]>;
  /** What a browser brings to the hosted page, in its address or form, where the verb judges that itself. */
  readonly browserFields?: Shape<z.ZodObject>;
  readonly status: number;
  /** What `data` holds; of a list one item. Absent where the answer holds no JSON. */
  readonly response?: Shape<z.ZodType<Result>>;
  /** `document`: JSON without the envelope. `page`: HTML, for errors of the verb too. `image`: a picture. */
  readonly produces?: "data" | "document" | "page" | "image";
  /** When which success comes, where there are several, and every status of a page. */
  readonly answers?: Readonly<Record<number, string>>;
  readonly answerHeaders?: readonly AnswerHeader[];
  /** Codes of the verb's own refusals, on top of those of access, body and query. */
  readonly errors?: readonly ErrorCode[];
  readonly examples?: () => Examples<NoInfer<BodyInput>, NoInfer<Result>>;
}

/** Calls one verb; a plain result becomes `{data}` with the declared status, a `Reply` is sent as it is. */
interface Single<Made, Result> {
  readonly list?: false;
  run(call: Made): Later<NoInfer<Immutable<Result>> | Reply>;
}
/** The same for a list: a page of it becomes `{data, page}`. */
interface List<Made, Result> {
  readonly list: true;
  run(call: Made): Later<Page<NoInfer<Immutable<Result>>>>;
}

/** Of a call that was refused before its verb ran, what is known all the same. */
export interface RefusedCall extends RequestScope {
  readonly services: HttpDeps;
  readonly headers: Headers;
}

interface Refusing {
  /** Tells what was refused before the verb ran, where its reader can't do with the envelope. */
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
    | Single<Call<Scope, ParamsOf<Path>, Body, Query>, Result>
    | List<Call<Scope, ParamsOf<Path>, Body, Query>, Result>
  );

/** Where a route is. */
export interface Endpoint {
  readonly method: Method;
  readonly path: string;
}

/** One route as a value: who may call, what it takes, what it answers, which verb it runs. */
export interface Route extends Endpoint {
  readonly spec: RouteContract<unknown, unknown, unknown, unknown, unknown> &
    Refusing & {
      readonly list?: boolean;
      run(call: Call<unknown, unknown, unknown, unknown>): unknown;
    };
}

/** Declares a route. `params` is typed from the path, the result from `response`: what does not fit does not compile. */
export function route<
  Path extends string,
  Scope,
  Body = undefined,
  BodyInput = undefined,
  Query = undefined,
  Result = unknown,
>(method: Method, path: Path, spec: RouteSpec<Path, Scope, Body, BodyInput, Query, Result>): Route {
  // `register.ts` hands `run` only what this spec's own access and schemas produced.
  return { method, path, spec };
}

/**
 * What can be read can be asked for without its body (RFC 9110, 9.3.2): networks look at a file that way first. The
 * web server leaves the body out.
 */
export function methodsOf({ method }: Endpoint): readonly (Method | "HEAD")[] {
  return method === "GET" ? ["GET", "HEAD"] : [method];
}

const segmentsOf = (path: string) => path.split("/").filter((segment) => segment !== "");
const isParam = (segment: string) => segment.startsWith("{");

/** The parameters when the path fits the route's, decoded; a literal segment fits in any case, as on the host. */
function match(template: string, path: string): Record<string, string> | undefined {
  const [wanted, given] = [segmentsOf(template), segmentsOf(path)];
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const text = given[index] ?? "";
    if (isParam(segment)) params[segment.slice(1, -1)] = text;
    else if (segment.toLowerCase() !== text.toLowerCase()) return undefined;
  }
  return params;
}

/** How many literal segments lead: a literal beats a parameter. */
const literalness = (route: Endpoint) =>
  segmentsOf(route.path)
    .map((segment) => (isParam(segment) ? "0" : "1"))
    .join("");

export interface RouteMatch<Of extends Endpoint> {
  readonly route: Of;
  readonly params: Readonly<Record<string, string>>;
}

/** The routes whose path fits, the most literal first, whatever their method. `path` has no prefix. */
export function matchPath<Of extends Endpoint>(
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
