import { matchTemplate, parseTemplate } from "./route-template.ts";
import type { RouteSegment, RouteValues } from "./route-template.ts";

export interface HttpFunction {
  readonly name: string;
  /** Without the prefix; the function's name when it is not given. */
  readonly route: string | undefined;
  /** Undefined: every method. */
  readonly methods: readonly string[] | undefined;
  /** Whether its `authLevel` asks for a key. */
  readonly needsKey?: boolean;
}

interface Route {
  readonly functionName: string;
  readonly needsKey: boolean;
  readonly path: string;
  readonly methods: ReadonlySet<string> | undefined;
  readonly template: readonly RouteSegment[];
}

export interface RouteMatch {
  readonly functionName: string;
  readonly needsKey: boolean;
  readonly values: RouteValues;
}

/**
 * The app's routes with the host's rules. Two of them surprise: routes are tried in the order of their functions' names,
 * so that a parameter may come before a literal, and a method no function has is a 404, because the method is one more
 * condition of the route and not a second step. (A literal does not win by itself:
 * https://github.com/Azure/azure-functions-host/issues/9876; 404: https://github.com/Azure/azure-functions-host/issues/10098.)
 */
export class RouteTable {
  readonly #routes: readonly Route[];

  /** Throws, naming the function, for a route that the host would refuse. */
  constructor(functions: readonly HttpFunction[], prefix: string) {
    this.#routes = functions
      .map((definition) => toRoute(definition, prefix))
      .toSorted((a, b) => compareNames(a.functionName, b.functionName));
    refuseConflicts(this.#routes);
  }

  match(method: string, path: string): RouteMatch | undefined {
    const whole = path.replace(/^\//, "");
    const segments = whole.replace(/\/$/, "").split("/");
    const given = segments.length === 1 && segments[0] === "" ? [] : segments;
    const end = whole.endsWith("/") ? "/" : "";
    for (const { functionName, needsKey, methods, template } of this.#routes) {
      if (methods !== undefined && !methods.has(method.toUpperCase())) continue;
      const values = matchTemplate(template, given, end);
      if (values !== undefined) return { functionName, needsKey, values };
    }
    return undefined;
  }

  /** One line for each function that can't be reached because one with an earlier name takes all of its requests. */
  hidden(): string[] {
    return this.#routes.flatMap((route, index) => {
      const earlier = this.#routes
        .slice(0, index)
        .find((other) => coversMethods(other, route) && covers(other.template, route.template));
      if (earlier === undefined) return [];
      return [
        `function "${route.functionName}" (${describe(route)}) can never run: "${earlier.functionName}" ` +
          `(${describe(earlier)}) takes its requests, because the Functions host tries routes in the order of ` +
          "function names",
      ];
    });
  }

  /** `name: [GET,POST] path`, in the order in which routes are tried. */
  lines(): string[] {
    return this.#routes.map((route) => `${route.functionName}: ${describe(route)}`);
  }
}

function toRoute({ name, route, methods, needsKey }: HttpFunction, prefix: string): Route {
  const own = route === undefined || route.trim() === "" ? name : route;
  const trimmed = own.replace(/^\/+|\/+$/g, "");
  // The host compares the beginning of the text, not the first segment: "administrators" is refused as well.
  if (/^(?:admin|runtime)/i.test(trimmed))
    throw new Error(
      `function "${name}": the route "${own}" conflicts with the host's own routes, which begin with "admin" and "runtime"`,
    );
  const path = [prefix, own.replace(/^\//, "")].filter((part) => part !== "").join("/");
  return {
    functionName: name,
    needsKey: needsKey ?? false,
    path,
    methods: methods && new Set(methods.map((method) => method.toUpperCase())),
    template: parseTemplate(path),
  };
}

function refuseConflicts(routes: readonly Route[]): void {
  for (const [index, route] of routes.entries())
    for (const other of routes.slice(0, index))
      if (other.path.toLowerCase() === route.path.toLowerCase() && shareMethod(other, route))
        throw new Error(
          `function "${route.functionName}": the route "${route.path}" conflicts with the route of function ` +
            `"${other.functionName}"`,
        );
}

function shareMethod(a: Route, b: Route): boolean {
  const [first, second] = [a.methods, b.methods];
  if (first === undefined || second === undefined) return true;
  return [...first].some((method) => second.has(method));
}

function coversMethods(earlier: Route, later: Route): boolean {
  const { methods } = earlier;
  if (methods === undefined) return true;
  return later.methods !== undefined && [...later.methods].every((method) => methods.has(method));
}

/**
 * Whether every path of `later` is one of `earlier`, as far as it can be told: a constrained or mixed segment counts as
 * one that lets something through.
 */
function covers(earlier: readonly RouteSegment[], later: readonly RouteSegment[]): boolean {
  for (const [index, segment] of earlier.entries()) {
    const [part, ...others] = segment;
    if (part === undefined || others.length > 0) return false;
    if (part.kind === "parameter" && part.constraints.length > 0) return false;
    if (part.kind === "parameter" && part.catchAll) return true;
    const opposite = later[index];
    if (opposite === undefined) {
      if (part.kind === "parameter" && part.optional) continue;
      return false;
    }
    if (!coversSegment(part, opposite)) return false;
  }
  return later.length <= earlier.length;
}

function coversSegment(part: RouteSegment[number], later: RouteSegment): boolean {
  const [opposite, ...others] = later;
  if (part.kind === "literal")
    return (
      others.length === 0 &&
      opposite?.kind === "literal" &&
      opposite.text.toLowerCase() === part.text.toLowerCase()
    );
  const mayBeAbsent = opposite?.kind === "parameter" && (opposite.optional || opposite.catchAll);
  return !mayBeAbsent || (part.optional && opposite.optional);
}

function describe({ methods, path }: Route): string {
  return `[${methods === undefined ? "all" : [...methods].join(",")}] ${path}`;
}

/** .NET's OrdinalIgnoreCase: code units of the upper-case text, so that "_" comes after every letter. */
function compareNames(a: string, b: string): number {
  const [first, second] = [a.toUpperCase(), b.toUpperCase()];
  if (first === second) return 0;
  return first < second ? -1 : 1;
}
