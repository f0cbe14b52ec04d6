import { parseConstraint } from "./route-constraints.ts";
import type { RouteConstraint } from "./route-constraints.ts";

interface RouteParameter {
  readonly kind: "parameter";
  readonly name: string;
  readonly catchAll: boolean;
  readonly optional: boolean;
  readonly defaultValue: string | undefined;
  readonly constraints: readonly RouteConstraint[];
}

interface RouteLiteral {
  readonly kind: "literal";
  readonly text: string;
}

type RoutePart = RouteLiteral | RouteParameter;

/** What stands between two slashes: almost always one part; `{file}.{ext}` has three. */
export type RouteSegment = readonly RoutePart[];

export type RouteValues = Readonly<Record<string, string>>;

/** The template's segments. Throws, naming the template, for what the host would refuse when it starts. */
export function parseTemplate(template: string): readonly RouteSegment[] {
  try {
    const segments = splitSegments(template.replace(/^~?\//, "").replace(/\/$/, "")).map(
      parseSegment,
    );
    checkNames(segments);
    return segments;
  } catch (cause) {
    throw new Error(`the route "${template}" is not valid: ${(cause as Error).message}`, { cause });
  }
}

/** Slashes separate, except within the braces of a parameter, where a regular expression may hold one. */
function splitSegments(template: string): string[] {
  if (template === "") return [];
  const segments: string[] = [];
  let current = "";
  let depth = 0;
  for (const character of template) {
    if (character === "{") depth += 1;
    if (character === "}") depth -= 1;
    if (character === "/" && depth === 0) {
      segments.push(current);
      current = "";
    } else current += character;
  }
  segments.push(current);
  if (segments.includes("")) throw new Error("a segment is empty");
  return segments;
}

const PART = /\{((?:[^{}]|\{\{|\}\})*)\}(?!\})|((?:[^{}]|\{\{|\}\})+)/gy;

function parseSegment(text: string): RouteSegment {
  const parts: RoutePart[] = [];
  PART.lastIndex = 0;
  while (PART.lastIndex < text.length) {
    const match = PART.exec(text);
    if (match === null) throw new Error("a brace is not closed");
    const [, parameter, literal] = match;
    if (parameter !== undefined) parts.push(parseParameter(unescapeBraces(parameter)));
    else parts.push({ kind: "literal", text: unescapeBraces(literal ?? "") });
  }
  checkSegment(parts);
  return parts;
}

function unescapeBraces(text: string): string {
  return text.replaceAll("{{", "{").replaceAll("}}", "}");
}

function parseParameter(text: string): RouteParameter {
  const stars = /^\**/.exec(text)?.[0].length ?? 0;
  if (stars > 2) throw new Error(`"{${text}}" has too many stars`);
  const optional = text.endsWith("?");
  const [name = "", ...rest] = splitParameter(text.slice(stars, optional ? -1 : undefined));
  const defaults = rest.filter((piece) => piece.startsWith("="));
  const constraints = rest.filter((piece) => piece.startsWith(":"));
  if (!/^[^/{}?*]+$/.test(name)) throw new Error(`"{${text}}" has no valid name`);
  if (optional && (stars > 0 || defaults.length > 0))
    throw new Error(`"{${text}}" can't be optional as well`);
  return {
    kind: "parameter",
    name,
    catchAll: stars > 0,
    optional,
    defaultValue: defaults[0]?.slice(1),
    constraints: constraints.map((constraint) => parseConstraint(constraint.slice(1))),
  };
}

/**
 * The name, then each `:constraint` and `=default`. A colon or an equals sign within a constraint's brackets is its own;
 * the brackets end where a new piece or the end follows.
 */
function splitParameter(text: string): string[] {
  const pieces: string[] = [];
  let current = "";
  let inBrackets = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    const starts = !inBrackets && (character === ":" || character === "=");
    if (starts) {
      pieces.push(current);
      current = "";
    }
    current += character;
    if (character === "(" && current.startsWith(":")) inBrackets = true;
    else if (character === ")" && /^(?:$|[:=])/.test(text.slice(index + 1))) inBrackets = false;
  }
  pieces.push(current);
  return pieces;
}

function checkSegment(parts: readonly RoutePart[]): void {
  for (const [index, part] of parts.entries()) {
    if (part.kind === "literal" && part.text.includes("?"))
      throw new Error("a literal can't hold a question mark");
    if (part.kind === "parameter" && parts.length > 1) checkMixed(part, index, parts);
  }
}

function checkMixed(part: RouteParameter, index: number, parts: readonly RoutePart[]): void {
  if (part.catchAll) throw new Error("a catch-all needs a segment of its own");
  const before = parts[index - 1];
  if (before?.kind === "parameter") throw new Error("two parameters need a literal between them");
  const afterDot = before?.text === "." && index === parts.length - 1;
  if (part.optional && !afterDot)
    throw new Error("an optional parameter needs a segment of its own");
}

function checkNames(segments: readonly RouteSegment[]): void {
  const names = new Set<string>();
  for (const [index, segment] of segments.entries())
    for (const part of segment) {
      if (part.kind === "literal") continue;
      if (names.has(part.name.toLowerCase())) throw new Error(`"${part.name}" appears twice`);
      names.add(part.name.toLowerCase());
      if (part.catchAll && index !== segments.length - 1)
        throw new Error("a catch-all must be the last segment");
    }
}

/**
 * Returns the values of the template's parameters in this path, or undefined when it doesn't match. `end`: the slash that
 * the path ends with, which a catch-all keeps.
 */
export function matchTemplate(
  template: readonly RouteSegment[],
  path: readonly string[],
  end = "",
): RouteValues | undefined {
  const values: Record<string, string> = {};
  for (let index = 0; index < Math.max(template.length, path.length); index += 1) {
    const segment = template[index];
    if (segment === undefined) return undefined;
    const [first] = segment;
    if (first?.kind === "parameter" && first.catchAll) {
      // An empty segment is what no parameter takes.
      if (path[index] === "") return undefined;
      const rest = index < path.length ? path.slice(index).join("/") + end : "";
      return take(first, rest === "" ? undefined : rest, values) ? values : undefined;
    }
    if (!matchSegment(segment, path[index], values)) return undefined;
  }
  return values;
}

function matchSegment(
  segment: RouteSegment,
  text: string | undefined,
  values: Record<string, string>,
): boolean {
  const [only, ...others] = segment;
  if (others.length > 0 || only === undefined) return matchMixed(segment, text, values);
  if (only.kind === "parameter") return take(only, text, values);
  return text !== undefined && text.toLowerCase() === only.text.toLowerCase();
}

function matchMixed(
  segment: RouteSegment,
  text: string | undefined,
  values: Record<string, string>,
): boolean {
  if (text === undefined) return false;
  // A last part that may be absent takes what it can get, so the ones before it take no more than they must.
  const lastPart = segment.at(-1);
  const endsOptional = lastPart?.kind === "parameter" && lastPart.optional;
  const pattern = segment.map((part, index) => {
    if (part.kind === "parameter" && part.optional) return String.raw`(?:\.([^.]+))?`;
    if (part.kind === "parameter") return endsOptional ? "(.+?)" : "(.+)";
    const next = segment[index + 1];
    const dotOfOptional = next?.kind === "parameter" && next.optional;
    return dotOfOptional ? "" : escapeForPattern(part.text);
  });
  const found = new RegExp(`^${pattern.join("")}$`, "i").exec(text);
  if (found === null) return false;
  const parameters = segment.filter((part) => part.kind === "parameter");
  return parameters.every((parameter, index) => take(parameter, found[index + 1], values));
}

function escapeForPattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}

function take(
  parameter: RouteParameter,
  text: string | undefined,
  values: Record<string, string>,
): boolean {
  const value = text ?? parameter.defaultValue;
  if (value === undefined) return parameter.optional || parameter.catchAll;
  if (value === "" || !parameter.constraints.every((holds) => holds(value))) return false;
  values[parameter.name] = value;
  return true;
}
