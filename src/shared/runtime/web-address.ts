import { domainToUnicode } from "node:url";

/** A longer address is refused for its length, without checking its characters. */
const CHARACTERS_MAX = 8_192;
const CONTROL = /[\p{Cc}\u2028\u2029]/u;
/** The part between the two slashes and the path. */
const AUTHORITY = /^https?:\/\/([^/?#]*)/i;

/**
 * Says what is wrong with a URL that a caller wrote, if `new URL` would silently read another one than was written.
 * Returns undefined if it reads what was written, or if the text is no http or https URL at all. White space around the
 * URL is ignored. Accents, spaces in a path and international names may be encoded, since that gives the same URL.
 */
export function misreadAddress(given: string): string | undefined {
  const text = given.trim();
  if (text.length > CHARACTERS_MAX || !/^https?:/i.test(text) || !URL.canParse(text))
    return undefined;
  if (CONTROL.test(text)) return "must not contain line breaks, tabs or other control characters";
  if (text.includes("\\")) return "must not contain a backslash: write a slash, or %5C";
  const authority = AUTHORITY.exec(text)?.[1] ?? "";
  const { hostname, username, password } = new URL(text);
  if (authority === "") return "must have two slashes and then its host name";
  const hostAt = authority.lastIndexOf("@") + 1;
  if (hostAt > 0 && username === "" && password === "")
    return "must not carry a user name or a password";
  const host = authority.slice(hostAt);
  const written = (host.split(":")[0] ?? "").toLowerCase().normalize("NFC");
  const isAsWritten = written === hostname || written === domainToUnicode(hostname);
  if (host.startsWith("[") || isAsWritten) return undefined;
  return "must have its host name as it is: without escapes, invisible or full-width characters, and an IPv4 address as four decimal numbers";
}

/** Reserved names that lead nowhere on the public internet (RFC 6761, 6762, 7686, 8375, 9476). */
const RESERVED = /(?:^|\.)(?:alt|example|home\.arpa|internal|invalid|local|localhost|onion|test)$/;
const LABEL_CHARACTERS_MAX = 63;
const NAME_CHARACTERS_MAX = 253;

/**
 * Reports whether no server on the public internet can have this name. `hostname` is in the form that `URL` gives it.
 */
export function isImpossibleName(hostname: string): boolean {
  const name = hostname.replace(/\.$/, "");
  const labels = name.split(".");
  const fits = labels.every((label) => label !== "" && label.length <= LABEL_CHARACTERS_MAX);
  return !fits || labels.length < 2 || name.length > NAME_CHARACTERS_MAX || RESERVED.test(name);
}
