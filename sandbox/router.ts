import type { Exchange } from "./exchange.ts";
import type { Route, SandboxNetwork, Site } from "./network.ts";

export interface Match {
  readonly site: Site;
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

const patterns = new Map<string, RegExp>();

function patternOf(path: string): RegExp {
  const known = patterns.get(path);
  if (known !== undefined) return known;
  const source = path
    .split(/(\{\w+\})/)
    .map((part) =>
      /^\{\w+\}$/.test(part) ? `(?<${part.slice(1, -1)}>[^/]+)` : part.replace(/[^\w/]/g, "\\$&"),
    )
    .join("");
  const pattern = new RegExp(`^${source}$`);
  patterns.set(path, pattern);
  return pattern;
}

/** Percent-decoded, or as it is when it can't be. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The first route of the site that accepts the request; HEAD is accepted where GET is. */
export function matchRoute(
  site: Site,
  { method, host, path }: Pick<Exchange, "method" | "host" | "path">,
): Match | undefined {
  const wanted = method === "HEAD" ? "GET" : method;
  for (const route of site.routes) {
    if (route.method !== wanted || route.hosts?.includes(host) === false) continue;
    const pattern = patternOf(route.path);
    // Clients may percent-encode what a server expects literally, the colons of a DID for one.
    const found = pattern.exec(path) ?? pattern.exec(decoded(path));
    if (found === null) continue;
    const params = Object.entries(found.groups ?? {}).map(([name, value]) => [
      name,
      decoded(value),
    ]);
    return { site, route, params: Object.fromEntries(params) as Record<string, string> };
  }
  return undefined;
}

export function isNetwork(site: Site): site is SandboxNetwork {
  return "takesUnknownHosts" in site || "posts" in site;
}

/** Whose host it is. */
export function siteOf(sites: readonly Site[], host: string): Site | undefined {
  return (
    sites.find((site) => site.hosts.includes(host)) ??
    sites.find((site) => isNetwork(site) && site.takesUnknownHosts === true)
  );
}

/** Where a browser's request to the sandbox's own address belongs: the first site whose route accepts and claims it. */
export function matchBrowser(sites: readonly Site[], exchange: Exchange): Match | undefined {
  const { method, path } = exchange;
  for (const site of sites) {
    const match = matchRoute(site, { method, path, host: site.hosts[0] ?? exchange.host });
    if (match === undefined) continue;
    const claims = isNetwork(site) ? (site.claimsBrowser?.(exchange) ?? true) : true;
    if (claims) return match;
  }
  return undefined;
}
