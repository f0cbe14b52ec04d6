import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ClientRequest, IncomingMessage } from "node:http";

export type RequestKind = "transaction" | "send" | "read" | "write";

interface Span {
  readonly kind: RequestKind;
  entities: number;
  bytes: number;
  /** The table or queue, with its prefix. */
  readonly place: string;
  readonly from: number;
  to: number;
}

/** The requests to storage that this process made while something ran. */
export interface RequestCounts {
  readonly total: number;
  readonly byKind: Readonly<Record<RequestKind, number>>;
  /** The tables and queues that were read, with how often. */
  readonly readsOf: Readonly<Record<string, number>>;
  /** Rows that a read answered with: one, or those of a page. */
  readonly entitiesRead: number;
  /** Sent and received, headers included. */
  readonly bytes: number;
  /** The longest chain of requests that waited for each other; means something only for one call at a time. */
  readonly sequential: number;
}

function kindOf({ method, path }: ClientRequest): RequestKind {
  if (path.includes("/$batch")) return "transaction";
  if (path.includes("/messages")) return "send";
  return method === "GET" || method === "HEAD" ? "read" : "write";
}

/** `/account/table(PartitionKey=…)` and `/account/queue/messages`. */
function placeOf({ path }: ClientRequest): string {
  return /^\/[^/]+\/([\w$-]+)/.exec(path)?.[1] ?? path;
}

function longestChain(spans: readonly Span[]): number {
  let chain = 0;
  let endOfLast = -Infinity;
  for (const span of [...spans].sort((left, right) => left.to - right.to)) {
    if (span.from < endOfLast) continue;
    chain += 1;
    endOfLast = span.to;
  }
  return chain;
}

/** What goes over the wire beside a body: its own length is in the headers where there is one. */
function requestBytes(request: ClientRequest): number {
  const names = request.getHeaderNames();
  const headers = names.reduce(
    (sum, name) => sum + name.length + String(request.getHeader(name)).length + ": \r\n".length,
    `${request.method} ${request.path} HTTP/1.1\r\n\r\n`.length,
  );
  return headers + Number(request.getHeader("content-length") ?? 0);
}

const ROW_KEY = '"RowKey"';

/** Looks at what arrives without taking it from its reader. */
function watchBody(response: IncomingMessage, span: Span): void {
  span.bytes += response.rawHeaders.reduce((sum, text) => sum + text.length + 2, 0);
  const push = response.push.bind(response);
  response.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk instanceof Buffer) {
      span.bytes += chunk.length;
      if (span.kind === "read") span.entities += chunk.toString("latin1").split(ROW_KEY).length - 1;
    }
    return push(chunk, encoding);
  };
}

function summaryOf(spans: readonly Span[]): RequestCounts {
  const count = (kind: RequestKind) => spans.filter((span) => span.kind === kind).length;
  const sum = (of: (span: Span) => number) => spans.reduce((all, span) => all + of(span), 0);
  const readsOf: Record<string, number> = {};
  for (const { kind, place } of spans)
    if (kind === "read") readsOf[place] = (readsOf[place] ?? 0) + 1;
  return {
    total: spans.length,
    readsOf,
    byKind: {
      transaction: count("transaction"),
      send: count("send"),
      read: count("read"),
      write: count("write"),
    },
    entitiesRead: sum(({ entities }) => entities),
    bytes: sum(({ bytes }) => bytes),
    sequential: longestChain(spans),
  };
}

/** Listens where node reports its own HTTP requests: neither the product nor the SDK knows of it. */
export async function countRequests(run: () => Promise<void>): Promise<RequestCounts> {
  const open = new Map<ClientRequest, Span>();
  const spans: Span[] = [];
  const started = (message: unknown) => {
    const { request } = message as { request: ClientRequest };
    const span: Span = {
      kind: kindOf(request),
      place: placeOf(request),
      entities: 0,
      bytes: requestBytes(request),
      from: performance.now(),
      to: Infinity,
    };
    open.set(request, span);
    spans.push(span);
  };
  const finished = (message: unknown) => {
    const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
    const span = open.get(request);
    if (span === undefined) return;
    span.to = performance.now();
    watchBody(response, span);
    open.delete(request);
  };
  subscribe("http.client.request.start", started);
  subscribe("http.client.response.finish", finished);
  try {
    await run();
  } finally {
    unsubscribe("http.client.request.start", started);
    unsubscribe("http.client.response.finish", finished);
  }
  return summaryOf(spans);
}
