import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { parseConfig } from "../../src/shared/config/config.ts";
import { createOutbound, type Outbound } from "../../src/shared/runtime/outbound.ts";

export const FILES_HOST = "files.example.test";

export type Serve = (request: IncomingMessage, response: ServerResponse) => void;

export interface FileServer {
  readonly origin: string;
  /** Settings under which `https://files.example.test` is this server. */
  readonly settings: Readonly<Record<string, string>>;
  /** `METHOD path range`, in the order in which they were asked. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** A server on loopback that gives out what a test wants of it. */
export async function serveFiles(routes: Readonly<Record<string, Serve>>): Promise<FileServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://files");
    asked.push([request.method, pathname, request.headers.range].filter(Boolean).join(" "));
    const serve = routes[pathname];
    if (serve === undefined) response.writeHead(404).end("not found");
    else serve(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  return {
    origin,
    settings: {
      OUTBOUND_HOST_MAP: JSON.stringify({ [FILES_HOST]: origin }),
      OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32",
    },
    asked,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** A file as a good server gives it out: with ranges, a size and a tag. */
export function ranged(bytes: Uint8Array, etag = '"one"', contentType = "image/jpeg"): Serve {
  return (request, response) => {
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
    const wanted = request.headers["if-range"];
    const headers = { "content-type": contentType, etag, "accept-ranges": "bytes" };
    if (range === null || (wanted !== undefined && wanted !== etag)) {
      response.writeHead(200, { ...headers, "content-length": bytes.length });
      response.end(request.method === "HEAD" ? undefined : bytes);
      return;
    }
    const [first, last] = [Number(range[1]), Math.min(Number(range[2]), bytes.length - 1)];
    response.writeHead(206, {
      ...headers,
      "content-range": `bytes ${first}-${last}/${bytes.length}`,
      "content-length": last - first + 1,
    });
    response.end(bytes.subarray(first, last + 1));
  };
}

/** A file from a server that knows no ranges. */
export function whole(bytes: Uint8Array, etag = '"one"'): Serve {
  return (request, response) => {
    response.writeHead(200, { "content-length": bytes.length, etag });
    response.end(request.method === "HEAD" ? undefined : bytes);
  };
}

export function outboundTo({ settings }: FileServer): Outbound {
  return createOutbound(
    parseConfig({
      AZURE_FUNCTIONS_ENVIRONMENT: "Development",
      AzureWebJobsStorage: "UseDevelopmentStorage=true",
      NETWORK_TIMEOUT_MS: "2000",
      ...settings,
    }),
  );
}
