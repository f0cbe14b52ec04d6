import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";

/**
 * What becomes of one request. `pass`: it is answered. `lose`: it never arrives. `lose answer`: it has its effect, and
 * the connection ends. `cut`: half of the answer arrives. `hang`: it is never answered. Else it is answered like this.
 */
export type Trouble = "pass" | "lose" | "lose answer" | "cut" | "hang" | CannedAnswer;

interface CannedAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | AsyncIterable<Uint8Array>;
  /** Whether the request has its effect before. */
  readonly hasEffect?: true;
}

export interface TroubledRelay {
  readonly baseUrl: string;
  /** Requests as they came. */
  readonly requests: readonly TroubledRequest[];
  close(): void;
}

interface TroubledRequest {
  readonly method: string;
  readonly path: string;
  /** When it came, in milliseconds. */
  readonly at: number;
  /** Its Idempotency-Key. */
  readonly key: string | undefined;
  /** Its Content-Length, without which hosts may lose a body. */
  readonly length: string | undefined;
}

async function forward(target: URL, { method = "", headers }: IncomingMessage, body: Buffer) {
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (/^(?:authorization|content-type|idempotency-key|x-)/.test(name))
      sent.set(name, String(value));
  const answer = await fetch(target, {
    method,
    headers: sent,
    ...(body.length === 0 ? {} : { body }),
  });
  return {
    status: answer.status,
    type: answer.headers.get("content-type"),
    bytes: Buffer.from(await answer.arrayBuffer()),
  };
}

/** Serves a relay's API with the troubles of a list, one a request and none after those, or with those of a rule. */
export async function troubledRelay(
  baseUrl: string,
  troubles: readonly Trouble[] | ((request: TroubledRequest) => Trouble) = [],
): Promise<TroubledRelay> {
  const requests: TroubledRequest[] = [];
  const { pathname: prefix } = new URL(baseUrl);
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = "", url = "", headers } = request;
    const came: TroubledRequest = {
      method,
      path: url.slice(prefix.length),
      at: performance.now(),
      key: headers["idempotency-key"]?.toString(),
      length: headers["content-length"],
    };
    const ruled = typeof troubles === "function" ? troubles(came) : troubles[requests.length];
    const trouble = ruled ?? "pass";
    requests.push(came);
    if (trouble === "hang") return;
    if (trouble === "lose") return void request.socket.destroy();
    const isCanned = typeof trouble === "object";
    const arrives = !isCanned || trouble.hasEffect === true;
    const answer = arrives
      ? await forward(new URL(url, baseUrl), request, Buffer.concat(chunks))
      : undefined;
    if (trouble === "lose answer") return void request.socket.destroy();
    if (isCanned) {
      response.writeHead(trouble.status, trouble.headers);
      const { body = "" } = trouble;
      if (typeof body === "string") return void response.end(body);
      return pipeline(body, response);
    }
    if (answer === undefined) return;
    const { status, type, bytes } = answer;
    response.writeHead(status, { "content-type": type ?? "", "content-length": bytes.length });
    if (trouble === "pass") return void response.end(bytes);
    response.write(bytes.subarray(0, bytes.length / 2));
    setTimeout(() => request.socket.destroy(), 20);
  };
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}${prefix}`,
    requests,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
