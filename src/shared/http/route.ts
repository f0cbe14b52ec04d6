import type * as z from "zod";
import type { Services } from "../services.ts";
import type { Access } from "./access.ts";
import type { Incoming } from "./incoming.ts";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** The parameters that a path names: `v1/posts/{postId}` → `{ postId: string }`. */
type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name]: string } & ParamsOf<Rest>
  : unknown;

export interface Call<Scope, Params, Body, Query> {
  readonly services: Services;
  readonly scope: Scope;
  readonly params: Params;
  readonly body: Body;
  readonly query: Query;
  readonly headers: Headers;
}

interface RouteSpec<Path extends string, Scope, Body, Query> {
  /** One line for the reference. */
  readonly summary: string;
  readonly access: Access<Scope>;
  readonly body?: z.ZodType<Body>;
  /** `form`: an HTML form of the hosted page instead of JSON. */
  readonly bodyKind?: "json" | "form";
  readonly query?: z.ZodType<Query>;
  readonly status: number;
  /** Calls one verb; a plain result becomes `{data}` with the declared status, a `Reply` is sent as it is. */
  run(call: Call<Scope, ParamsOf<Path>, Body, Query>): unknown;
}

/** One route as a value: who may call, what it takes, what it answers, which verb it runs. */
export interface Route {
  readonly method: Method;
  readonly path: string;
  readonly spec: Omit<RouteSpec<string, unknown, unknown, unknown>, "run"> & {
    run(call: Call<unknown, unknown, unknown, unknown>): unknown;
  };
}

/** Declares a route. `params` is typed from the path: a misspelt name does not compile. */
export function route<Path extends string, Scope, Body = undefined, Query = undefined>(
  method: Method,
  path: Path,
  spec: RouteSpec<Path, Scope, Body, Query>,
): Route {
  // Safe: `register.ts` hands `run` only what this spec's own access and schemas produced.
  return { method, path, spec };
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
const literalness = (route: Route) =>
  segmentsOf(route.path)
    .map((segment) => (isParam(segment) ? "0" : "1"))
    .join("");

export interface RouteMatch {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** The routes whose path fits, the most literal first, whatever their method. `path` has no prefix. */
export function matchPath(routes: readonly Route[], path: string): RouteMatch[] {
  return routes
    .flatMap((route) => {
      const params = match(route.path, path);
      return params === undefined ? [] : [{ route, params }];
    })
    .sort((left, right) => literalness(right.route).localeCompare(literalness(left.route)));
}

export type { Incoming };
