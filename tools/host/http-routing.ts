import { LackError, type OnLeftOut } from "./left-out.ts";

export interface HttpFunction {
  readonly name: string;
  /** Without the prefix. */
  readonly route: string;
  readonly methods: readonly string[];
}

interface Segment {
  readonly kind: "literal" | "parameter" | "rest";
  /** The literal, or the parameter's name. */
  readonly text: string;
}

interface Route {
  readonly functionName: string;
  readonly path: string;
  readonly methods: ReadonlySet<string>;
  readonly segments: readonly Segment[];
}

export interface RouteMatch {
  readonly functionName: string;
  readonly values: Readonly<Record<string, string>>;
}

/**
 * The app's routes with the host's rules. Two of them surprise: routes are tried in the order of their functions' names,
 * so that a parameter may come before a literal, and a method no function has is a 404, because the method is one more
 * condition of the route and not a second step. (A literal does not win by itself:
 * https://github.com/Azure/azure-functions-host/issues/9876; 404: https://github.com/Azure/azure-functions-host/issues/10098.)
 */
export class RouteTable {
  readonly #routes: readonly Route[];

  /** Leaves out a function whose route the Functions host refuses. @throws LackError for one that only this host lacks */
  constructor(functions: readonly HttpFunction[], prefix: string, onLeftOut: OnLeftOut) {
    const routes: Route[] = [];
    for (const definition of functions)
      try {
        const route = toRoute(definition, prefix);
        refuseConflict(route, routes);
        routes.push(route);
      } catch (error) {
        const { message } = error as Error;
        if (error instanceof LackError)
          throw new LackError(`function "${definition.name}": ${message}`);
        onLeftOut(definition.name, message);
      }
    this.#routes = routes.toSorted((a, b) => compareNames(a.functionName, b.functionName));
  }

  match(method: string, path: string): RouteMatch | undefined {
    const whole = path.replace(/^\//, "");
    const given = whole.replace(/\/$/, "").split("/");
    for (const { functionName, methods, segments } of this.#routes) {
      if (!methods.has(method)) continue;
      const values = match(segments, given, whole.endsWith("/") ? "/" : "");
      if (values !== undefined) return { functionName, values };
    }
    return undefined;
  }
}

/** Returns the values of the template's parameters. A catch-all keeps the slash (`end`) that the path ends with. */
function match(
  segments: readonly Segment[],
  given: readonly string[],
  end: string,
): Record<string, string> | undefined {
  const values: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const text = given[index];
    if (segment.kind === "rest") {
      if (text === "") return undefined;
      if (text !== undefined) values[segment.text] = given.slice(index).join("/") + end;
      return values;
    }
    if (text === undefined || text === "") return undefined;
    if (segment.kind === "parameter") values[segment.text] = text;
    else if (segment.text.toLowerCase() !== text.toLowerCase()) return undefined;
  }
  return given.length === segments.length ? values : undefined;
}

function toRoute({ name, route, methods }: HttpFunction, prefix: string): Route {
  // The host compares the beginning of the text, not the first segment: "administrators" is refused as well.
  if (/^(?:admin|runtime)/i.test(route))
    throw new Error(
      `the route "${route}" conflicts with the host's own routes, which begin with "admin" and "runtime"`,
    );
  const path = `${prefix}/${route}`;
  const segments = path.split("/").map(toSegment);
  if (segments.slice(0, -1).some(({ kind }) => kind === "rest"))
    throw new Error(`a catch-all must be the last segment of "${route}"`);
  return { functionName: name, path, methods: new Set(methods), segments };
}

function toSegment(text: string): Segment {
  const [, star, name] = /^\{(\*?)([a-z]\w*)\}$/i.exec(text) ?? [];
  if (name !== undefined) return { kind: star === "*" ? "rest" : "parameter", text: name };
  if (text !== "" && !/[{}?]/.test(text)) return { kind: "literal", text };
  throw new LackError(
    `the local host has no route segment "${text}": literals, {name} and {*name} only`,
  );
}

function refuseConflict({ path, methods }: Route, others: readonly Route[]): void {
  const other = others.find(
    (one) =>
      one.path.toLowerCase() === path.toLowerCase() &&
      [...methods].some((method) => one.methods.has(method)),
  );
  if (other !== undefined)
    throw new Error(
      `the route "${path}" conflicts with the route of function "${other.functionName}"`,
    );
}

/** Compares as .NET's OrdinalIgnoreCase: code units of the upper-case text, so that "_" comes after every letter. */
function compareNames(a: string, b: string): number {
  return a.toUpperCase() < b.toUpperCase() ? -1 : 1;
}
