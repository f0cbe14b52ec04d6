import { once } from "node:events";
import { createServer, request as send } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * What becomes of one call. `lose`: cut, without its request or after its effect. `hold`: the caller waits for ever,
 * before or after the effect.
 */
export type Fault = "lose_request" | "lose_answer" | "hold_request" | "hold_answer";

interface SeenCall {
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
}

export interface Interceptor {
  readonly url: string;
  /** Every call so far, oldest first. */
  readonly calls: readonly SeenCall[];
  /** Lets the next call whose path ends with the name, of a method or of any, suffer the fault; resolves when it has. */
  next(name: string, fault: Fault, method?: string): Promise<void>;
  stop(): Promise<void>;
}

interface Trap {
  readonly name: string;
  readonly fault: Fault;
  readonly method: string | undefined;
  readonly sprung: () => void;
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

interface Forwarded {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

async function forward(
  origin: string,
  incoming: IncomingMessage,
  body: Buffer,
): Promise<Forwarded> {
  const { method, headers } = incoming;
  const outgoing = send(new URL(incoming.url ?? "/", origin), {
    ...(method === undefined ? {} : { method }),
    headers,
  });
  outgoing.end(body);
  const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
  return { status: answer.statusCode ?? 502, headers: answer.headers, body: await bodyOf(answer) };
}

function reply(response: ServerResponse, { status, headers, body }: Forwarded): void {
  const { "transfer-encoding": _, ...kept } = headers;
  response.writeHead(status, { ...kept, "content-length": body.length });
  response.end(body);
}

async function play(
  fault: Fault | undefined,
  incoming: IncomingMessage,
  response: ServerResponse,
  goOn: () => Promise<Forwarded>,
): Promise<void> {
  switch (fault) {
    case undefined:
      return reply(response, await goOn());
    case "lose_request":
      incoming.socket.destroy();
      return;
    case "hold_request":
      return;
    case "lose_answer":
      await goOn();
      incoming.socket.destroy();
      return;
    case "hold_answer":
      await goOn();
  }
}

/** A proxy on loopback in front of `origin` that passes everything on but what it was told to spoil. */
export async function startInterceptor(origin: string): Promise<Interceptor> {
  const calls: SeenCall[] = [];
  const traps: Trap[] = [];

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(incoming);
    const path = (incoming.url ?? "/").split("?")[0] ?? "/";
    calls.push({ method: incoming.method ?? "", path, headers: incoming.headers });
    const name = path.slice(path.lastIndexOf("/") + 1);
    const at = traps.findIndex(
      (trap) => trap.name === name && (trap.method ?? incoming.method) === incoming.method,
    );
    const [trap] = at < 0 ? [] : traps.splice(at, 1);
    await play(trap?.fault, incoming, response, () => forward(origin, incoming, body));
    trap?.sprung();
  };

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    next(name, fault, method) {
      const { promise, resolve } = Promise.withResolvers<void>();
      traps.push({ name, fault, method, sprung: resolve });
      return promise;
    },
    async stop() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
