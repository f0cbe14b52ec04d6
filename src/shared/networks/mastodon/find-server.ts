import { exchange } from "../contract/answers.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import type { LinkFailure } from "../contract/link.ts";
import { followRedirects } from "../contract/redirects.ts";
import { originOf, unescapeHtml, type TypedServer } from "../contract/text.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { linkedBy, webfingerUrl } from "./handle.ts";
import { findInstance, type Instance } from "./instance.ts";

/**
 * Finds the server that a person typed. A domain may only name the accounts, while their server is at another host:
 * WebFinger tells where an account is, and host-meta where WebFinger is.
 */
export async function findServer(
  { origin, name }: TypedServer,
  tools: NetworkTools,
): Promise<Instance | LinkFailure> {
  const instance = await findInstance(origin, tools);
  if (!("code" in instance) || instance.code === "rate_limited") return instance;
  const known = new Set([origin]);
  for (const find of [() => byWebFinger(origin, name, tools), () => byHostMeta(origin, tools)]) {
    const fresh = (await find()).filter((found) => !known.has(found));
    for (const found of fresh) {
      known.add(found);
      const elsewhere = await findInstance(found, tools);
      if (!("code" in elsewhere)) return elsewhere;
    }
  }
  return instance;
}

/** Requests a document that tells where a server is. Its address after redirects may tell this too (RFC 7033, 4.2). */
async function fetchPointer(url: string, accept: string, tools: NetworkTools) {
  const arrived = await followRedirects(url, (address) =>
    exchange(tools, { method: "GET", url: address, headers: { accept } }),
  );
  if (typeof arrived === "string" || arrived.answer instanceof HttpFailure) return undefined;
  const { answer } = arrived;
  return { answer, origin: originOf(arrived.url), isThere: answer.status === 200 };
}

const PROFILE_PAGE = "http://webfinger.net/rel/profile-page";

function originsOf(...addresses: readonly (string | undefined)[]): readonly string[] {
  const origins = addresses.map((each) => (each === undefined ? undefined : originOf(each)));
  return [...new Set(origins)].filter((each) => each !== undefined);
}

/** Returns the origins at which the account's server may be, the most likely first. */
async function byWebFinger(
  origin: string,
  name: string | undefined,
  tools: NetworkTools,
): Promise<readonly string[]> {
  if (name === undefined) return [];
  const url = webfingerUrl(origin, name, new URL(origin).host);
  const found = await fetchPointer(url, "application/jrd+json, application/json", tools);
  if (found === undefined) return [];
  const json = found.isThere ? found.answer.json() : undefined;
  const hrefOf = (rel: string) => linkedBy(json, rel, "href")[0];
  return originsOf(hrefOf("self"), hrefOf(PROFILE_PAGE), found.origin);
}

/** Returns the origins at which a domain says that its WebFinger is (RFC 6415). */
async function byHostMeta(origin: string, tools: NetworkTools): Promise<readonly string[]> {
  for (const path of ["/.well-known/host-meta", "/.well-known/host-meta.json"]) {
    const accept = "application/xrd+xml, application/jrd+json, application/json";
    const found = await fetchPointer(`${origin}${path}`, accept, tools);
    if (found?.isThere !== true) continue;
    const { answer } = found;
    const templates = linkedBy(answer.json(), "lrdd", "template");
    const places = [...templates, ...templatesIn(answer.text())].map((template) =>
      template.replaceAll(/[{}]/g, ""),
    );
    return originsOf(...places, found.origin).slice(0, TEMPLATES_MAX);
  }
  return [];
}

/** A domain has one server. More than one way to ask it is an exception. */
const TEMPLATES_MAX = 3;

/** Returns the templates of links in an XRD document. */
function templatesIn(xml: string): readonly string[] {
  const found = xml.matchAll(/\btemplate=(?:"([^"<]*)"|'([^'<]*)')/g);
  return [...found]
    .slice(0, TEMPLATES_MAX)
    .map((match) => unescapeHtml(match[1] ?? match[2] ?? ""));
}
