import { BlockList, isIP } from "node:net";
import type { Agent, Dispatcher } from "undici";
import { checkedConnector } from "./checked-connector.ts";
import {
  HttpFailure,
  type HttpRequest,
  type HttpResponse,
  OWN_HOSTS,
  URL_LENGTH_MAX,
  type UrlRefusal,
} from "./http-call.ts";
import { createNameResolver, type NameResolver, type NamesConfig } from "./resolve-host.ts";
import {
  readResponse,
  SentBody,
  toFailure,
  toOpened,
  type OpenedResponse,
} from "./outbound-body.ts";
import { traceParentOfCall } from "./telemetry/work-context.ts";
import { RecentMap } from "./recent-map.ts";
import { isImpossibleName, misreadAddress } from "./web-address.ts";

/** Maximum time between two chunks of an answer. */
const IDLE_TIMEOUT_MS = 60_000;
/** How long an idle connection is kept open, even if its server allows more. */
const KEEP_ALIVE_MS = 4_000;
/** Maximum number of owners whose connections are kept open. */
const AGENTS_MAX = 1_000;
/** As much as browsers accept. Policies for the content of a page alone take 20 KB. */
const HEADER_BYTES_MAX = 256 * 1024;
const USER_AGENT = "publishing-relay/1";

const DENIED_V4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  // Azure's platform address is a public one, so no generic list has it.
  ["168.63.129.16", 32],
];
/** Only 2000::/3 is public, except for these ranges. */
const DENIED_V6: readonly (readonly [string, number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

function blockList(
  ranges: readonly (readonly [string, number])[],
  family: "ipv4" | "ipv6",
): BlockList {
  const list = new BlockList();
  for (const [subnet, prefix] of ranges) list.addSubnet(subnet, prefix, family);
  return list;
}
const deniedV4 = blockList(DENIED_V4, "ipv4");
const deniedV6 = blockList(DENIED_V6, "ipv6");
const publicV6 = blockList([["2000::", 3]], "ipv6");

/** Returns the IPv4 address inside an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2), in either notation. */
function unmapped(address: string): string | undefined {
  const dotted = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (dotted !== undefined) return dotted;
  const hex = /^(?:::ffff:|0:0:0:0:0:ffff:)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address);
  if (hex === null) return undefined;
  const [high, low] = [Number.parseInt(hex[1] ?? "", 16), Number.parseInt(hex[2] ?? "", 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** Reports whether an address may be dialled: it is public, or in a range that the settings allow. */
export function isAllowedAddress(address: string, allowed?: BlockList): boolean {
  const v4 = unmapped(address) ?? address;
  const family = isIP(v4);
  if (family === 0) return false;
  if (family === 4) return allowed?.check(v4, "ipv4") === true || !deniedV4.check(v4, "ipv4");
  return (
    allowed?.check(v4, "ipv6") === true ||
    (publicV6.check(v4, "ipv6") && !deniedV6.check(v4, "ipv6"))
  );
}

export function allowList(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [subnet = "", prefix] = cidr.split("/");
    const family = isIP(subnet) === 6 ? "ipv6" : "ipv4";
    list.addSubnet(subnet, Number(prefix ?? (family === "ipv6" ? 128 : 32)), family);
  }
  return list;
}

const blocked = (refusal?: UrlRefusal) =>
  new HttpFailure("not_sent", "blocked_address", refusal === undefined ? {} : { refusal });

/** The WHATWG "bad ports" above 1023. Browsers never dial them, and neither do we. */
const BAD_PORTS: ReadonlySet<number> = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669,
  6679, 6697, 10080,
]);

function isAllowedPort({ port }: URL): boolean {
  const number = port === "" ? 443 : Number(port);
  return number === 443 || (number >= 1024 && !BAD_PORTS.has(number));
}

const HTTPS_ONLY = "must be an https URL";

/**
 * Says what would have to change in a URL that a caller chose, or returns undefined when it may be dialled. Only the
 * text is checked here. The address behind a name is checked when it is dialled.
 */
export function refusedUrl(text: string, allowed?: BlockList): string | undefined {
  return checkUrl(text, allowed)?.words;
}

function checkUrl(
  text: string,
  allowed?: BlockList,
): { readonly refusal: UrlRefusal; readonly words: string } | undefined {
  const refused = (refusal: UrlRefusal, words: string) => ({ refusal, words });
  if (text.length > URL_LENGTH_MAX)
    return refused("length", `must have at most ${URL_LENGTH_MAX} characters`);
  if (!URL.canParse(text)) return refused("scheme", HTTPS_ONLY);
  const url = new URL(text);
  if (url.protocol !== "https:") return refused("scheme", HTTPS_ONLY);
  if (url.username !== "" || url.password !== "")
    return refused("credentials", "must not carry a user name or a password");
  if (!isAllowedPort(url))
    return refused("port", "must use port 443, or one from 1024 on that browsers allow");
  const host = url.hostname.replace(/\.$/, "").replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0)
    return isAllowedAddress(host, allowed)
      ? undefined
      : refused("host", "must lead to a public address");
  if (/(^|\.)(localhost|local|internal)$/i.test(host) || !host.includes("."))
    return refused("host", "must lead to a public host name");
  return undefined;
}

/** The address that is dialled for `localhost`. The name is never resolved, so it can't lead to another address. */
const LOOPBACK = "127.0.0.1";

/** Replaces `localhost` in a plain http URL with its address. Other URLs stay unchanged. */
function withoutLocalName(url: URL): URL {
  if (url.protocol !== "http:" || url.hostname !== "localhost") return url;
  const dialled = new URL(url);
  dialled.hostname = LOOPBACK;
  return dialled;
}

/** Reports whether a URL is plain http to an address that the settings allow. Production refuses such settings. */
function isAllowedPlainHttp(url: URL, allowed: BlockList): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const family = isIP(host);
  if (url.protocol !== "http:" || url.username !== "" || url.password !== "") return false;
  return family !== 0 && allowed.check(host, family === 6 ? "ipv6" : "ipv4");
}

/** A host as every reader of URLs and headers accepts it: a name of letters, digits, hyphens and dots, or an address. */
const PLAIN_HOST = /^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])$/;

interface PublicHostRules {
  readonly hostMap: Readonly<Record<string, string>>;
  readonly allowCidrs: readonly string[];
}

/** Reports whether the settings map the host to a stand-in, or allow plain http to this machine. Development only. */
export function isOfDevelopment(url: URL, { hostMap, allowCidrs }: PublicHostRules): boolean {
  const { protocol, hostname, username, password } = url;
  const isPlain = protocol === "https:" && username === "" && password === "";
  if (isPlain && hostMap[hostname] !== undefined) return true;
  // A program on a developer's machine: plain http to `localhost` or 127.0.0.1.
  const dialled = withoutLocalName(url);
  return (
    dialled.hostname === LOOPBACK &&
    isAllowedPort(url) &&
    isAllowedPlainHttp(dialled, allowList(allowCidrs))
  );
}

/**
 * Says what would have to change in a URL that a caller gave, so that it is https on a host that can exist on the
 * public internet. Returns undefined when it is. Only the text is checked. In development, hosts with a stand-in and
 * programs of this machine are accepted too.
 */
export function refusedPublicUrl(text: string, rules: PublicHostRules): string | undefined {
  if (!URL.canParse(text)) return HTTPS_ONLY;
  const misread = misreadAddress(text);
  if (misread !== undefined) return misread;
  const url = new URL(text);
  if (isOfDevelopment(url, rules)) return undefined;
  const reason = refusedUrl(text);
  if (reason !== undefined)
    return reason === HTTPS_ONLY && url.protocol === "http:"
      ? `${reason}: http://localhost is accepted in a local run only`
      : reason;
  if (!PLAIN_HOST.test(url.hostname))
    return "must have a host name of letters, digits, hyphens and dots";
  const isAddress = isIP(url.hostname.replace(/^\[|\]$/g, "")) !== 0;
  return !isAddress && isImpossibleName(url.hostname)
    ? "must have a host name that can exist on the public internet"
    : undefined;
}

export interface Outbound {
  /**
   * Makes one call. Only https is allowed, and only public addresses, which is checked on the address that is actually
   * dialled. Redirects are not followed.
   * @throws HttpFailure when no answer arrived
   */
  request(request: HttpRequest): Promise<HttpResponse>;
  /** Works like `request`, but leaves the body for the caller to read, and ignores `bytesMax` and `beyondMax`. */
  open(request: HttpRequest): Promise<OpenedResponse>;
  /** Returns the URL to send a browser to. For a mapped host that is the URL of its stand-in. */
  browserUrl(url: string): string;
  close(): Promise<void>;
}

interface Rules {
  readonly allowed: BlockList;
  readonly hostMap: ReadonlyMap<string, string>;
}

/** Finds out where a call goes. @throws HttpFailure when the call is not allowed */
function callTarget(
  { url: text, owner = "" }: Pick<HttpRequest, "url" | "owner">,
  { allowed, hostMap }: Rules,
) {
  if (text.length > URL_LENGTH_MAX) throw blocked("length");
  if (!URL.canParse(text)) throw blocked("scheme");
  const url = new URL(text);
  const origin = hostMap.get(url.hostname);
  if (origin !== undefined) {
    const mapped = origin + url.pathname + url.search;
    const host = new URL(origin).hostname.replace(/^\[|\]$/g, "");
    if (isIP(host) !== 0 && !isAllowedAddress(host, allowed)) throw blocked("host");
    return {
      url: mapped,
      owner: OWN_HOSTS,
      headers: { "x-forwarded-host": url.host, "x-forwarded-proto": "https" },
    };
  }
  const refused = checkUrl(text, allowed);
  const dialled = withoutLocalName(url);
  if (refused !== undefined && !isAllowedPlainHttp(dialled, allowed))
    throw blocked(refused.refusal);
  return { url: dialled.href, owner, headers: dialled === url ? {} : { host: url.host } };
}

/** Creates the agents that open connections. Owners can't use up each other's look-ups and connections. */
function createAgents(names: NameResolver, allowed: BlockList) {
  const agents = new RecentMap<Agent>(AGENTS_MAX);
  const isAllowed = (address: string) => isAllowedAddress(address, allowed);
  return {
    /** Loads the library with the first call, because loading is slow. */
    async of(owner: string): Promise<Agent> {
      // After bundling, a CommonJS package that is loaded late has only its default export.
      const { default: undici } = await import("undici");
      const known = agents.get(owner);
      if (known !== undefined) return known;
      const agent = new undici.Agent({
        connect: checkedConnector(undici.buildConnector, { names, owner, isAllowed }),
        keepAliveTimeout: KEEP_ALIVE_MS,
        keepAliveMaxTimeout: KEEP_ALIVE_MS,
        maxHeaderSize: HEADER_BYTES_MAX,
      });
      agents.set(owner, agent);
      return agent;
    },
    async close(): Promise<void> {
      await Promise.all([...agents.values()].map((agent) => agent.close()));
    },
  };
}

export interface OutboundConfig {
  readonly outbound: NamesConfig["outbound"] & {
    readonly hostMap: Readonly<Record<string, string>>;
    readonly allowCidrs: readonly string[];
  };
  readonly publishing: { readonly networkTimeoutMs: number };
}

/** Creates the only client for outbound calls. */
export function createOutbound(
  config: OutboundConfig,
  names = createNameResolver(config),
): Outbound {
  const allowed = allowList(config.outbound.allowCidrs);
  const hostMap = new Map(Object.entries(config.outbound.hostMap));
  const agents = createAgents(names, allowed);

  const dial = async (request: HttpRequest): Promise<Dispatcher.ResponseData> => {
    const { url, owner, headers } = callTarget(request, { allowed, hostMap });
    const dispatcher = await agents.of(owner);
    const { default: undici } = await import("undici");
    const sent = new SentBody(request.body);
    const body = sent.toBody();
    // It names the calling step. No other part of the trace is sent.
    const traceparent = traceParentOfCall();
    try {
      return await undici.request(url, {
        method: request.method,
        headers: {
          "user-agent": USER_AGENT,
          ...(traceparent === undefined ? {} : { traceparent }),
          ...request.headers,
          ...sent.headers,
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
        dispatcher,
        bodyTimeout: IDLE_TIMEOUT_MS,
        signal: AbortSignal.timeout(request.timeoutMs ?? config.publishing.networkTimeoutMs),
      });
    } catch (error) {
      if (sent.failure !== undefined) throw sent.failure;
      throw toFailure(error);
    }
  };

  return {
    async request(request) {
      const response = await dial(request);
      try {
        return await readResponse(response, request);
      } catch (error) {
        throw error instanceof HttpFailure ? error : toFailure(error);
      }
    },
    open: async (request) => toOpened(await dial(request)),
    browserUrl(text) {
      const url = new URL(text);
      const origin = hostMap.get(url.hostname);
      return origin === undefined ? text : origin + url.pathname + url.search;
    },
    close: () => agents.close(),
  };
}
