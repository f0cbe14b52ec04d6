import { meantName } from "./issue-words.ts";
import { matchPath, type RouteKey } from "./route.ts";

/** Verbs that other APIs write at the end of a path, by the methods that they have here. */
const VERBS: Readonly<Record<string, string>> = {
  cancel: "DELETE",
  delete: "DELETE",
  edit: "PATCH",
  get: "GET",
  update: "PATCH",
};

/** A longer path is none of ours with a typing error, and comparing it takes time. */
const SEGMENTS_MAX = 8;

/**
 * Returns a sentence about the route that was probably meant by a path that has none; empty if nothing is close. It names
 * templates alone, because a path may contain a secret.
 */
export function routeHint(routes: readonly RouteKey[], path: string): string {
  const given = path.split("/").filter((segment) => segment !== "");
  if (given.length > SEGMENTS_MAX) return "";
  // Callers forget the version, and send the prefix twice.
  const [first = "", ...others] = given;
  const segments =
    first.toLowerCase() === "api" ? others : /^v\d+$/i.test(first) ? given : ["v1", ...given];
  const edits = routes.flatMap((route) => {
    const wanted = route.path.split("/");
    if (wanted.length !== segments.length) return [];
    const differing = wanted.filter(
      (part, index) => !part.startsWith("{") && part !== segments[index]?.toLowerCase(),
    );
    const isMeant = wanted.every(
      (part, index) => part.startsWith("{") || meantName(segments[index] ?? "", [part]) === part,
    );
    return isMeant ? [{ path: route.path, count: differing.length }] : [];
  });
  const [closest] = edits.toSorted((left, right) => left.count - right.count);
  if (closest !== undefined) return `Did you mean /${closest.path}? `;
  const parents = matchPath(routes, segments.slice(0, -1).join("/"));
  const [parent] = parents;
  if (parent === undefined) return "";
  const methods = parents
    .filter(({ route }) => route.path === parent.route.path)
    .map(({ route }) => route.method);
  const verb = VERBS[(segments.at(-1) ?? "").toLowerCase()];
  const isVerb = methods.some((method) => method === verb);
  return isVerb
    ? `Did you mean ${verb} /${parent.route.path}? `
    : `/${parent.route.path} accepts ${methods.join(", ")}. `;
}
