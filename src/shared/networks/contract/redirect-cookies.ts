/** A chain of redirects needs one or two. Browsers keep more, but between visits. */
const COOKIES_MAX = 20;
/** The length of a cookie that browsers accept (RFC 6265, 6.1). */
const COOKIE_BYTES_MAX = 4_096;
/** Servers usually accept headers of 8 KB altogether. */
const HEADER_BYTES_MAX = 6_144;
/** What a header may have: Latin-1 without control characters. */
const SENDABLE = /^[\u0020-\u007e\u0080-\u00ff]*$/;

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly domain: string;
  /** Whether hosts below the domain get it too. */
  readonly isShared: boolean;
  readonly path: string;
}

/**
 * The cookies that servers set while a chain of redirects is followed. Some send each visitor back to the same address
 * until the cookie comes along. They are sent back as browsers do (RFC 6265), and forgotten with the chain.
 */
export class RedirectCookies {
  #cookies: readonly Cookie[] = [];

  /** Keeps what an answer sets. Several headers are separated by line breaks. */
  take(url: string, headers: Readonly<Record<string, string>>): void {
    for (const text of headers["set-cookie"]?.split("\n", COOKIES_MAX) ?? []) {
      const { cookie, isEnded } = parsedCookie(text, new URL(url)) ?? {};
      if (cookie === undefined) continue;
      const others = this.#cookies.filter((known) => !isSame(known, cookie));
      this.#cookies = isEnded === true ? others : [...others, cookie].slice(-COOKIES_MAX);
    }
  }

  /** Returns the header with the cookies that an address gets, or none. */
  headersFor(url: string): { readonly cookie?: string } {
    const { hostname, pathname } = new URL(url);
    const wanted = this.#cookies.filter(
      ({ domain, isShared, path }) =>
        (hostname === domain || (isShared && hostname.endsWith(`.${domain}`))) &&
        (pathname === path || pathname.startsWith(path.endsWith("/") ? path : `${path}/`)),
    );
    const cookie = wanted.map(({ name, value }) => `${name}=${value}`).join("; ");
    return cookie === "" || cookie.length > HEADER_BYTES_MAX ? {} : { cookie };
  }
}

const isSame = (one: Cookie, other: Cookie) =>
  one.name === other.name && one.domain === other.domain && one.path === other.path;

/** Reads a `Set-Cookie` header (RFC 6265, 5.2). Undefined when it sets none for this host. */
function parsedCookie(
  text: string,
  { hostname, pathname }: URL,
): { readonly cookie: Cookie; readonly isEnded: boolean } | undefined {
  if (text.length > COOKIE_BYTES_MAX || !SENDABLE.test(text)) return undefined;
  const [pair = "", ...parts] = text.split(";");
  const [name, value] = halves(pair);
  if (name === "" || !pair.includes("=")) return undefined;
  const attributes = new Map(
    parts.map((part) => {
      const [key, given] = halves(part);
      return [key.toLowerCase(), given] as const;
    }),
  );
  const domain = attributes.get("domain")?.replace(/^\./, "").toLowerCase() ?? "";
  // A domain without a dot would be a whole ending.
  const isShared = domain.includes(".") && `.${hostname}`.endsWith(`.${domain}`);
  if (domain !== "" && domain !== hostname && !isShared) return undefined;
  const path = attributes.get("path") ?? "";
  const folder = pathname.slice(0, Math.max(1, pathname.lastIndexOf("/")));
  const cookie = {
    name,
    value,
    domain: isShared ? domain : hostname,
    isShared,
    path: path.startsWith("/") ? path : folder,
  };
  return { cookie, isEnded: hasEnded(attributes) };
}

function halves(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  return at < 0 ? [text.trim(), ""] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

function hasEnded(attributes: ReadonlyMap<string, string>): boolean {
  const seconds = attributes.get("max-age");
  if (seconds !== undefined && /^-?\d+$/.test(seconds)) return Number(seconds) <= 0;
  // Only a date that is long past removes a cookie. Others are beyond the few seconds of a chain.
  return Date.parse(attributes.get("expires") ?? "") <= 0;
}
