import { lookup, type LookupAddress } from "node:dns";
import { BlockList, isIP } from "node:net";
import type { Agent, Dispatcher } from "undici";
import type { Config } from "./config.ts";
import { HttpFailure, type HttpRequest, type HttpResponse } from "./networks/network.ts";

const BYTES_MAX_DEFAULT = 1024 * 1024;
const CONNECT_TIMEOUT_MS = 5_000;
const URL_LENGTH_MAX = 2_048;
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
  // Azure's platform address lies in public space, so that no generic list has it.
  ["168.63.129.16", 32],
];
/** Only 2000::/3 is public; these ranges inside it are not. */
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
  for (const [network, prefix] of ranges) list.addSubnet(network, prefix, family);
  return list;
}
const deniedV4 = blockList(DENIED_V4, "ipv4");
const deniedV6 = blockList(DENIED_V6, "ipv6");
const publicV6 = blockList([["2000::", 3]], "ipv6");

/** The IPv4 address inside an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2), in either of its notations. */
function unmapped(address: string): string | undefined {
  const dotted = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (dotted !== undefined) return dotted;
  const hex = /^(?:::ffff:|0:0:0:0:0:ffff:)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address);
  if (hex === null) return undefined;
  const [high, low] = [Number.parseInt(hex[1] ?? "", 16), Number.parseInt(hex[2] ?? "", 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** Whether an address may be dialled: public, or in a range that the settings allow. */
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

function allowList(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [network = "", prefix] = cidr.split("/");
    const family = isIP(network) === 6 ? "ipv6" : "ipv4";
    list.addSubnet(network, Number(prefix ?? (family === "ipv6" ? 128 : 32)), family);
  }
  return list;
}

const blocked = (cause?: unknown) => new HttpFailure("not_sent", "blocked_address", { cause });

/** WHATWG "bad ports" above 1023: browsers never dial them, and neither do we. */
const BAD_PORTS: ReadonlySet<number> = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669,
  6679, 6697, 10080,
]);

function isAllowedPort({ port }: URL): boolean {
  const number = port === "" ? 443 : Number(port);
  return number === 443 || (number >= 1024 && !BAD_PORTS.has(number));
}

/**
 * The reason why a URL that somebody else chose must not be dialled, or undefined. Judges the text alone; the address
 * behind a name is judged when it is dialled.
 */
export function refusedUrl(text: string, allowed?: BlockList): string | undefined {
  if (text.length > URL_LENGTH_MAX) return `longer than ${URL_LENGTH_MAX} characters`;
  if (!URL.canParse(text)) return "not a URL";
  const url = new URL(text);
  if (url.protocol !== "https:") return "not an https URL";
  if (url.username !== "" || url.password !== "") return "carries credentials";
  if (!isAllowedPort(url)) return "uses a port that is not allowed";
  const host = url.hostname.replace(/\.$/, "").replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) return isAllowedAddress(host, allowed) ? undefined : "not a public address";
  if (/(^|\.)(localhost|local|internal)$/i.test(host) || !host.includes("."))
    return "not a public host name";
  return undefined;
}

/** Development only: plain http to an address that the settings name; production refuses such settings. */
function isAllowedPlainHttp(url: URL, allowed: BlockList): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const family = isIP(host);
  if (url.protocol !== "http:" || url.username !== "" || family === 0) return false;
  return allowed.check(host, family === 6 ? "ipv6" : "ipv4");
}

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** Resolves a name and refuses it when any of its addresses may not be dialled; the connection uses just these. */
function checkedLookup(allowed: BlockList) {
  return (
    host: string,
    options: { readonly all?: boolean | undefined },
    callback: LookupCallback,
  ): void => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const first = addresses[0];
      if (
        first === undefined ||
        addresses.some(({ address }) => !isAllowedAddress(address, allowed))
      )
        return callback(Object.assign(new Error("blocked address"), { code: "EBLOCKED" }), []);
      if (options.all === true) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };
}

const NOT_SENT: Readonly<Record<string, HttpFailure["reason"]>> = {
  EBLOCKED: "blocked_address",
  ENOTFOUND: "connect_failed",
  EAI_AGAIN: "connect_failed",
  ECONNREFUSED: "connect_failed",
  EHOSTUNREACH: "connect_failed",
  ENETUNREACH: "connect_failed",
  UND_ERR_CONNECT_TIMEOUT: "timeout",
};

/** What a failed call means for the question whether the other side may have got it. */
function toFailure(error: unknown): HttpFailure {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const reason = NOT_SENT[code];
  if (reason !== undefined) return new HttpFailure("not_sent", reason, { cause: error });
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|UNABLE_TO_|SELF_SIGNED|EPROTO)/.test(code))
    return new HttpFailure("not_sent", "tls_failed", { cause: error });
  if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE")
    return new HttpFailure("in_doubt", "too_large", { cause: error });
  if (/TIMEOUT/.test(code) || (error instanceof Error && error.name === "TimeoutError"))
    return new HttpFailure("in_doubt", "timeout", { cause: error });
  return new HttpFailure("in_doubt", "connection_lost", { cause: error });
}

function decode(body: Uint8Array): string {
  return new TextDecoder().decode(body);
}

function toResponse(response: Dispatcher.ResponseData, body: Uint8Array): HttpResponse {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers))
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  return {
    status: response.statusCode,
    headers,
    body,
    text: () => decode(body),
    json: () => {
      try {
        return JSON.parse(decode(body)) as unknown;
      } catch {
        return undefined;
      }
    },
  };
}

async function readBody(
  response: Dispatcher.ResponseData,
  { bytesMax = BYTES_MAX_DEFAULT, beyondMax = "fail" }: HttpRequest,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    chunks.push(chunk);
    if (length <= bytesMax) continue;
    response.body.destroy();
    if (beyondMax === "fail") throw new HttpFailure("in_doubt", "too_large");
    break;
  }
  return Buffer.concat(chunks).subarray(0, bytesMax);
}

export interface Outbound {
  /**
   * One call: https only, public addresses only, judged on the address that is dialled; no redirect is followed.
   * @throws HttpFailure when no answer came back.
   */
  request(request: HttpRequest): Promise<HttpResponse>;
  /** The address a browser is sent to: the stand-in of a mapped host, else unchanged. */
  browserUrl(url: string): string;
  close(): Promise<void>;
}

interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The only place that dials out. The client library is loaded with the first call: its import is slow. */
export function createOutbound(config: Config): Outbound {
  const allowed = allowList(config.outbound.allowCidrs);
  const hostMap = new Map(Object.entries(config.outbound.hostMap));
  let agent: Promise<Agent> | undefined;

  const openAgent = async (): Promise<Agent> => {
    const undici = await import("undici");
    return new undici.Agent({
      connect: { lookup: checkedLookup(allowed), timeout: CONNECT_TIMEOUT_MS },
      keepAliveTimeout: 4_000,
      maxHeaderSize: 16 * 1024,
    });
  };

  const target = (text: string): Target => {
    if (!URL.canParse(text)) throw blocked();
    const url = new URL(text);
    const origin = hostMap.get(url.hostname);
    if (origin !== undefined) {
      const mapped = origin + url.pathname + url.search;
      const host = new URL(origin).hostname.replace(/^\[|\]$/g, "");
      if (isIP(host) !== 0 && !isAllowedAddress(host, allowed)) throw blocked();
      return {
        url: mapped,
        headers: { "x-forwarded-host": url.host, "x-forwarded-proto": "https" },
      };
    }
    const refusal = refusedUrl(text, allowed);
    if (refusal !== undefined && !isAllowedPlainHttp(url, allowed))
      throw blocked(new Error(refusal));
    return { url: url.href, headers: {} };
  };

  return {
    async request(request) {
      const { url, headers } = target(request.url);
      agent ??= openAgent();
      const dispatcher = await agent;
      const { FormData: UndiciFormData, request: send } = await import("undici");
      const body =
        request.body instanceof FormData
          ? copyForm(request.body, new UndiciFormData())
          : request.body;
      try {
        const response = await send(url, {
          method: request.method,
          headers: { "user-agent": USER_AGENT, ...request.headers, ...headers },
          ...(body === undefined ? {} : { body }),
          dispatcher,
          signal: AbortSignal.timeout(request.timeoutMs ?? config.publishing.networkTimeoutMs),
        });
        return toResponse(response, await readBody(response, request));
      } catch (error) {
        throw error instanceof HttpFailure ? error : toFailure(error);
      }
    },
    browserUrl(text) {
      const url = new URL(text);
      const origin = hostMap.get(url.hostname);
      return origin === undefined ? text : origin + url.pathname + url.search;
    },
    async close() {
      if (agent !== undefined) await (await agent).close();
    },
  };
}

/** The client library knows only forms of its own class; it then sends an exact Content-Length. */
function copyForm<Form extends { append(name: string, value: never, file?: string): void }>(
  from: FormData,
  to: Form,
): Form {
  for (const [name, value] of from.entries()) {
    if (typeof value === "string") to.append(name, value as never);
    else to.append(name, value as never, value.name);
  }
  return to;
}
