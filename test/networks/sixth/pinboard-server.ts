import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { HttpRequest } from "../../../src/shared/runtime/http-call.ts";
import type { StandIn, VisiblePost } from "../contract/stand-in.ts";

export const PINBOARD_HOST = "api.pinboard.test";

interface Pin extends VisiblePost {
  readonly text: string;
  readonly board: string;
}

export interface PinboardServer extends StandIn {
  readonly url: string;
  posts(): readonly Pin[];
  stop(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How Pinboard says what the relay's codes say. */
const REFUSALS: Readonly<Record<string, Answer>> = {
  network_unavailable: { status: 503, body: { code: "down" } },
  rate_limited: { status: 429, body: { code: "too_fast" }, headers: { "retry-after": "45" } },
  connection_needs_reauth: { status: 401, body: { code: "token_revoked" } },
  permission_missing: { status: 403, body: { code: "not_yours" } },
  quota_exceeded: { status: 403, body: { code: "enough_for_today" } },
  duplicate_content: { status: 409, body: { code: "seen_before" } },
  content_rejected: { status: 400, body: { code: "not_nice" } },
};
const BAD_GATEWAY: Answer = { status: 502, body: "<html><h1>502 Bad Gateway</h1></html>" };
const ENDINGS: Readonly<Record<string, "before" | "after">> = {
  "drop-before": "before",
  "html-502": "before",
  "drop-answer": "after",
  "error-after": "after",
};

async function bodyOf(request: IncomingMessage): Promise<Record<string, string>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return text === "" ? {} : (JSON.parse(text) as Record<string, string>);
}

function send(response: ServerResponse, answer: Answer | undefined): void {
  if (answer === undefined) return void response.destroy();
  const { status, body, headers } = answer;
  const isText = typeof body === "string";
  const type = { "content-type": isText ? "text/html" : "application/json" };
  response.writeHead(status, { ...type, ...headers });
  response.end(isText ? body : JSON.stringify(body));
}

/** The network itself: one account, whose token is `pin`. */
export async function startPinboard(): Promise<PinboardServer> {
  const pins = new Map<string, Pin>();
  let fault: string | undefined;

  const run = (method: string, path: string, body: Record<string, string>): Answer => {
    if (path === "/me") return { status: 200, body: { id: "1", name: "demo" } };
    const key = method === "POST" ? (body["key"] ?? "") : decodeURIComponent(path.slice(6));
    const known = pins.get(key);
    if (known !== undefined) return { status: 200, body: known };
    if (method !== "POST") return { status: 404, body: { code: "no_such_pin" } };
    const id = String(pins.size + 1);
    const url = `https://pinboard.test/demo/${id}`;
    const pin = { id, url, text: body["text"] ?? "", board: body["board"] ?? "", edits: 0 };
    pins.set(key, pin);
    return { status: 200, body: pin };
  };

  const suffer = (word: string, effect: () => Answer): Answer | undefined => {
    const ending = ENDINGS[word];
    if (ending === undefined) {
      if (word.startsWith("refuse-after:")) effect();
      const code = word.slice(word.indexOf(":") + 1);
      return REFUSALS[code] ?? { status: 400, body: { code: "" } };
    }
    if (ending === "after") effect();
    return word.startsWith("drop") ? undefined : BAD_GATEWAY;
  };

  const answer = async (request: IncomingMessage): Promise<Answer | undefined> => {
    const body = await bodyOf(request);
    const word = fault;
    fault = undefined;
    if (request.headers.authorization !== "Bearer pin")
      return { status: 401, body: { code: "token_revoked" } };
    const effect = () => run(request.method ?? "", request.url ?? "", body);
    return word === undefined ? effect() : suffer(word, effect);
  };

  const server = createServer((request, response) => {
    answer(request).then(
      (given) => send(response, given),
      () => response.destroy(),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stepOf({ method, url }: HttpRequest) {
      const { hostname, pathname } = new URL(url);
      if (hostname !== PINBOARD_HOST) return undefined;
      return method === "POST" ? "pin" : pathname === "/me" ? "me" : "look";
    },
    play: (word) => {
      fault = word;
    },
    clear: () => {
      fault = undefined;
    },
    posts: () => [...pins.values()],
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
