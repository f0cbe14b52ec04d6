import * as z from "zod";
import { lenientList, objectShape } from "../contract/fields.ts";
import { type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import { exchange } from "../contract/answers.ts";
import { followRedirects } from "../contract/redirects.ts";
import { originOf, serverOrigin } from "../contract/text.ts";
import type { NetworkTools } from "../contract/tools.ts";

const documentShape = objectShape(() => ({
  links: lenientList(z.record(z.string(), z.unknown())),
}));

/**
 * Returns `name` of the links with one relation, from a WebFinger or host-meta document as JSON (RFC 7033, 4.4; RFC
 * 6415, appendix A). Links in other forms are ignored, because servers add their own.
 */
export function linkedBy(json: unknown, rel: string, name: "href" | "template"): readonly string[] {
  const links = documentShape().safeParse(json).data?.links ?? [];
  return links
    .filter((link) => link["rel"] === rel)
    .map((link) => link[name])
    .filter((value) => typeof value === "string");
}

/** Short, because a person waits for the page, and a name without the domain is good enough. */
const TIMEOUT_MS = 5_000;

/** Makes the WebFinger address (RFC 7033) of an account at an origin. */
export function webfingerUrl(origin: string, name: string, domain: string): string {
  const resource = encodeURIComponent(`acct:${name}@${domain}`);
  return `${origin}/.well-known/webfinger?resource=${resource}`;
}

function serverIn(answer: HttpResponse): string | undefined {
  if (answer.status !== 200) return undefined;
  const [self] = linkedBy(answer.json(), "self", "href");
  return self === undefined ? undefined : originOf(self);
}

/** What a server says about one of its accounts. */
interface Claim {
  readonly origin: string;
  readonly username: string;
  /** The domain that it claims for its accounts' names. */
  readonly domain: string;
}

/**
 * Returns the account's name with a verified domain: that of the server, or the one that the server claims if that
 * domain's own WebFinger leads back to the server. Anybody can set up a server that claims to be `mastodon.social`.
 */
export async function vouchedHandle(claim: Claim, tools: NetworkTools): Promise<string> {
  const { host } = new URL(claim.origin);
  // A name can't contain an at sign, because the rest would be read as the domain.
  const name = claim.username.split("@", 1)[0] ?? "";
  const named = serverOrigin(claim.domain);
  const domain = named === undefined ? host : new URL(named).host;
  const isVouched =
    named === undefined || domain === host || (await leadsBack(claim, { named, name }, tools));
  return `${name}@${isVouched ? domain : host}`;
}

async function leadsBack(
  { origin }: Claim,
  { named, name }: { readonly named: string; readonly name: string },
  tools: NetworkTools,
): Promise<boolean> {
  const url = webfingerUrl(named, name, new URL(named).host);
  // A domain that only names accounts redirects to the server behind it, as Mastodon's documentation says.
  const arrived = await followRedirects(url, (address) =>
    exchange(tools, { method: "GET", url: address, timeoutMs: TIMEOUT_MS }),
  );
  if (typeof arrived === "string" || arrived.answer instanceof HttpFailure) return false;
  return serverIn(arrived.answer) === origin;
}

/** Returns the address of the account's page if it is on the server itself, or else the usual one. */
export function pageOf(origin: string, username: string, url: string | null): string {
  if (url !== null && URL.canParse(url) && new URL(url).origin === origin) return url;
  return `${origin}/@${encodeURIComponent(username)}`;
}
