import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Relay } from "./relay.ts";

export interface RelayServer {
  readonly baseUrl: string;
  close(): Promise<void>;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/**
 * The relay of this process over real HTTP on loopback, for programs that speak nothing else. Queued work is done
 * after each write, so that who reads then sees what became of it; a read may come from work that is being done, such as
 * a network's for a file. A port is given where addresses have to name it.
 */
export async function serveRelay(relay: Relay, ownPort = 0): Promise<RelayServer> {
  const prefix = new URL(relay.services.config.publicBaseUrl).pathname;
  const server = createServer((request, response) => {
    const handle = async () => {
      const headers = new Headers();
      for (const [name, value] of Object.entries(request.headers))
        if (typeof value === "string") headers.set(name, value);
      const rawBody = await bodyOf(request);
      const path = (request.url ?? "/").slice(prefix.length);
      const options = { headers: Object.fromEntries(headers), rawBody };
      const answer = await relay.call(request.method ?? "GET", path, options);
      if (request.method !== "GET") await relay.drain();
      const { status, body } = answer;
      const isSent = typeof body === "string" || body instanceof Uint8Array || body === undefined;
      const sent = isSent ? body : JSON.stringify(body);
      response.writeHead(status, Object.fromEntries(answer.headers)).end(sent);
    };
    handle().catch((error: unknown) => response.writeHead(599).end(String(error)));
  }).listen(ownPort, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}${prefix}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
