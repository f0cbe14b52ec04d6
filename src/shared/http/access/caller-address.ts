import { isIP } from "node:net";

const UNKNOWN = "unknown";

/** Removes port and brackets: `203.0.113.9:51000`, `[2001:db8::1]:443`. Undefined when the rest is no address. */
function toAddress(hop: string): string | undefined {
  const inBrackets = /^\[([^\]]*)\](?::\d+)?$/.exec(hop)?.[1];
  const bare = inBrackets ?? hop.replace(/^([^:]*):\d+$/, "$1");
  return isIP(bare) === 0 ? undefined : bare.toLowerCase();
}

/**
 * Returns the caller's address: the entry of `X-Forwarded-For` that the outermost of our own `hops` proxies added, counted
 * from the right. Entries further left may be invented by the caller. Without a proxy of ours the header is not used.
 */
export function callerAddress(headers: Headers, hops: number): string {
  if (hops === 0) return UNKNOWN;
  const entries = (headers.get("x-forwarded-for") ?? "").split(",").map((entry) => entry.trim());
  const entry = entries.at(-Math.min(hops, entries.length));
  return toAddress(entry ?? "") ?? UNKNOWN;
}

const GROUPS = 8;
/** A /64 network, which is the least that an IPv6 provider gives a customer. */
const NETWORK_GROUPS = 4;

/** Returns the eight groups of an IPv6 address as numbers; a dotted end is two of them. */
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

/** Returns the address that counts as one caller: an IPv4 address, or the /64 network of an IPv6 address. */
export function addressGroup(address: string): string {
  if (isIP(address) !== 6) return address;
  const groups = groupsOf(address);
  const isMappedIPv4 = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMappedIPv4) {
    const bytes = groups.slice(6).flatMap((group) => [group >> 8, group & 0xff]);
    return bytes.join(".");
  }
  return `${groups
    .slice(0, NETWORK_GROUPS)
    .map((group) => group.toString(16))
    .join(":")}::/64`;
}
