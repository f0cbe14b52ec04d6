import { AppError, validationFailed, type Issue } from "../runtime/errors.ts";
import type { Route } from "./route.ts";

const KEY_HEADER = "Idempotency-Key";

/** Headers with one value. The host joins repeated headers with a comma, which none of these values may contain. */
const SINGLE_HEADERS = [
  "Authorization",
  "Content-Type",
  KEY_HEADER,
  "X-Profile-Id",
  "Profile-Id",
  "X-Application-Id",
  "X-Profile-Grant",
] as const;

/** A parameter of a content type may be a quoted text with commas in it. */
const QUOTED = /"[^"]*"/g;

function headerIssues(headers: Headers): Issue[] {
  const issues: Issue[] = SINGLE_HEADERS.filter((name) =>
    headers.get(name)?.replace(QUOTED, "").includes(","),
  ).map((path) => ({ path, code: "repeated", message: "must be sent once, and without a comma" }));
  const profiles = ["X-Profile-Id", "Profile-Id"].map((name) => headers.get(name)?.trim() ?? "");
  const named = new Set(profiles.filter((text) => text !== ""));
  if (issues.length === 0 && named.size > 1)
    issues.push({
      path: "X-Profile-Id",
      code: "repeated",
      message: 'must be the same as "Profile-Id": leave one of the two headers out',
    });
  return issues;
}

/** Returns an issue for each name that comes more than once. */
export function repeatedNames(parameters: URLSearchParams): Issue[] {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const name of parameters.keys()) (seen.has(name) ? repeated : seen).add(name);
  return [...repeated].map((path) => ({ path, code: "repeated", message: "must be given once" }));
}

/** Reports whether the route reads only a browser's or a network's URL, to which others add parameters of their own. */
const isAddressOnly = ({ spec }: Pick<Route, "spec">) =>
  spec.access.contract.credentials.length === 0 && spec.body === undefined;

/** Reports whether the route refuses repeated headers and parameters in the envelope. */
export function refusesRepeats({ spec }: Pick<Route, "spec">): boolean {
  return !isAddressOnly({ spec }) && spec.produces !== "page";
}

/**
 * Refuses values that may only be sent once but were repeated, before anything of the request is read. It would be a
 * guess which of the values counts, and a proxy may have guessed otherwise.
 * @throws AppError `validation_failed`, or `idempotency_key_invalid` when only the key was repeated
 */
export function refuseRepeats(
  route: Route,
  { headers, url }: { readonly headers: Headers; readonly url: URL },
): void {
  const inQuery = repeatedNames(url.searchParams);
  if (isAddressOnly(route)) {
    const known = Object.keys(route.spec.browserFields?.().shape ?? {});
    const issues = inQuery.filter(({ path }) => known.includes(path));
    if (issues.length > 0) throw validationFailed(issues);
    return;
  }
  const issues = [...headerIssues(headers), ...inQuery];
  if (issues.length === 1 && issues[0]?.path === KEY_HEADER)
    throw new AppError(
      "idempotency_key_invalid",
      "The Idempotency-Key must be sent once, and without a comma: one key names one request.",
    );
  if (issues.length > 0) throw validationFailed(issues);
}
