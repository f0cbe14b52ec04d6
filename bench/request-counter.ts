import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ClientRequest, IncomingMessage } from "node:http";

export type RequestKind = "transaction" | "send" | "read" | "write";

interface Span {
  readonly kind: RequestKind;
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

/** Listens where node reports its own HTTP requests: neither the product nor the SDK knows of it. */
export async function countRequests(run: () => Promise<void>): Promise<RequestCounts> {
  const open = new Map<ClientRequest, Span>();
  const spans: Span[] = [];
  const started = (message: unknown) => {
    const { request } = message as { request: ClientRequest };
    const span: Span = {
      kind: kindOf(request),
      place: placeOf(request),
      from: performance.now(),
      to: Infinity,
    };
    open.set(request, span);
    spans.push(span);
  };
  const finished = (message: unknown) => {
    const { request } = message as { request: ClientRequest; response: IncomingMessage };
    const span = open.get(request);
    if (span !== undefined) span.to = performance.now();
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
  const count = (kind: RequestKind) => spans.filter((span) => span.kind === kind).length;
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
    sequential: longestChain(spans),
  };
}
