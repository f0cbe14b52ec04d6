import { subscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

// Loaded into a host's process with `--import`: answers the benchmark's messages, and costs next to nothing until then.

export interface ProcessFigures {
  /** Requests to storage so far, by what they do and with which table or queue. */
  readonly requests: Readonly<Record<string, number>>;
  /** Memory after everything was collected that is in use no more. */
  readonly heapUsed: number;
  /** What the engine has taken for its heap, used or not. */
  readonly heapTotal: number;
  readonly external: number;
}

const requests: Record<string, number> = {};
const QUEUE_VERBS: Readonly<Record<string, string>> = {
  GET: "receive",
  POST: "send",
  DELETE: "delete message",
};

function nameOf({ method, path }: ClientRequest): string | undefined {
  const place = /^\/devstoreaccount1\/([\w$-]+)/.exec(path)?.[1];
  if (place === undefined) return undefined;
  if (path.includes("/$batch")) return "transaction";
  return path.includes("/messages")
    ? `${QUEUE_VERBS[method] ?? method} ${place}`
    : `${method} ${place}`;
}

subscribe("http.client.request.start", (message) => {
  const name = nameOf((message as { request: ClientRequest }).request);
  if (name !== undefined) requests[name] = (requests[name] ?? 0) + 1;
});

process.on("message", (asked) => {
  if (asked === "collect") {
    setFlagsFromString("--expose-gc");
    // Safe: the flag makes it.
    (runInNewContext("gc") as () => void)();
  }
  const { heapUsed, heapTotal, external } = process.memoryUsage();
  process.send?.({ requests, heapUsed, heapTotal, external } satisfies ProcessFigures);
});
// The channel alone keeps no process alive.
process.channel?.unref();
