import { isIP } from "node:net";

const UNKNOWN = "unknown";

/** Removes port and brackets: `203.0.113.9:51000`, `[2001:db8::1]:443`. Undefined when the rest is no address. */
function toAddress(hop: string): string | undefined {
  const inBrackets = /^\[([^\]]*)\](?::\d+)?$/.exec(hop)?.[1];
  const bare = inBrackets ?? hop.replace(/^([^:]*):\d+$/, "$1");
  return isIP(bare) === 0 ? undefined : bare.toLowerCase();
}

/**
 * Returns the caller's address: the entry of `X-Forwarded-For` that the outermost of our own `hops` proxies added,
 * counted from the right. A caller may have made up the entries further left. Without a proxy of ours, the header isn't
 * used.
 */
export function callerAddress(headers: Headers, hops: number): string {
  if (hops === 0) return UNKNOWN;
  const entries = (headers.get("x-forwarded-for") ?? "").split(",").map((entry) => entry.trim());
  const entry = entries.at(-Math.min(hops, entries.length));
  return toAddress(entry ?? "") ?? UNKNOWN;
}

const GROUPS = 8;
/** A /64 network, the smallest that an IPv6 provider gives a customer. */
const NETWORK_GROUPS = 4;
/** A /48 network, the largest that an IPv6 provider gives a site. */
const SITE_GROUPS = 3;

/** Returns the eight groups of an IPv6 address as numbers. A dotted end counts as two groups. */
function groupsOf(address: string): number[] {
  const [unscoped = ""] = address.split("%", 1);
  const plain = unscoped.replace(
    /(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/,
    (_all, ...parts) => {
      const [a = 0, b = 0, c = 0, d = 0] = parts.slice(0, 4).map(Number);
      return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
    },
  );
  const [head = "", tail] = plain.split("::");
  const parse = (text: string) =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
  const [left, right] = [parse(head), parse(tail ?? "")];
  return [
    ...left,
    ...Array<number>(Math.max(0, GROUPS - left.length - right.length)).fill(0),
    ...right,
  ];
}

/** Returns the bytes of an IPv4 address, mapped into IPv6 or not. Undefined for any other address. */
function ipv4Of(address: string): readonly number[] | undefined {
  if (isIP(address) === 4) return address.split(".").map(Number);
  if (isIP(address) !== 6) return undefined;
  const groups = groupsOf(address);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  return isMapped ? groups.slice(6).flatMap((group) => [group >> 8, group & 0xff]) : undefined;
}

function addressBlock(address: string, groups: number): string {
  const kept = groupsOf(address).slice(0, groups);
  return `${kept.map((group) => group.toString(16)).join(":")}::/${groups * 16}`;
}

/** Returns the address that counts as one caller: an IPv4 address, or the /64 network of an IPv6 address. */
export function addressGroup(address: string): string {
  if (isIP(address) !== 6) return address;
  return ipv4Of(address)?.join(".") ?? addressBlock(address, NETWORK_GROUPS);
}

/**
 * Returns the /48 network of an IPv6 address. A site has up to 65,536 addresses that count as one caller each, so it has
 * limits of its own. Undefined for any other address.
 */
export function addressSite(address: string): string | undefined {
  const isOwn = isIP(address) === 6 && ipv4Of(address) === undefined;
  return isOwn ? addressBlock(address, SITE_GROUPS) : undefined;
}

/** How many times the limit of one address all addresses of a site have together. */
export const SITE_FACTOR = 4;

/**
 * Returns the network whose failed logins count together: the /24 of an IPv4 address, or the /48 of an IPv6 address.
 * One owner often has that much.
 */
export function addressNetwork(address: string): string {
  const ipv4 = ipv4Of(address);
  if (ipv4 !== undefined) return `${ipv4.slice(0, 3).join(".")}.0/24`;
  return isIP(address) === 6 ? addressBlock(address, SITE_GROUPS) : address;
}
