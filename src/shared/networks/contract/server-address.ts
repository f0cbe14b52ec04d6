const ADDRESS_CHARACTERS_MAX = 500;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
/** Phones and chat programs add these when an address is copied: no-break spaces, joiners, direction marks. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** What a person typed, without what they can't see. */
export function typedText(text: string | undefined): string {
  return (text ?? "").replace(INVISIBLE, "").trim();
}

/**
 * The origin meant by an address as people type it: `host`, `@name@host`, a profile's URL. Always https, except on the
 * machine itself (which the outbound client refuses to dial outside development).
 */
export function serverOrigin(typed: string): string | undefined {
  const address = typedText(typed);
  if (address === "" || address.length > ADDRESS_CHARACTERS_MAX) return undefined;
  const [, scheme, rest = ""] = /^(?:(https?):\/\/)?(.*)$/i.exec(address) ?? [];
  const authority = rest.split(/[/?#]/, 1)[0] ?? "";
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  return originOf(`${scheme?.toLowerCase() ?? "https"}://${host}`);
}

/** The origin of a URL that a document of a network names, by the same rules. */
export function originOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  const hostname = url.hostname.replace(/\.$/, "");
  const isLoopback = LOOPBACK.test(hostname);
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  if (!isLoopback && !/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(hostname)) return undefined;
  const scheme = isLoopback ? url.protocol : "https:";
  return `${scheme}//${hostname}${url.port === "" ? "" : `:${url.port}`}`;
}
