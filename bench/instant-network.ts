import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { NETWORK_HOST } from "./relay.ts";

const HOOKS_HOST = "hooks.example.test";
const FILES_HOST = "files.example.test";
const VIDEO = new URL("../sandbox/media/clip.mp4", import.meta.url);
const PIECE_BYTES = 65_536;
const BOX_HEAD_BYTES = 8;

/** Under which a post is found among those that are visible. */
export const visibleKey = (network: string, text: string): string => `${network}|${text}`;

/** Servers of Mastodon and Bluesky that answer at once, and the customers' webhook endpoints and files beside them. */
export interface InstantNetwork {
  /** Settings with which a relay finds it. */
  readonly settings: Readonly<Record<string, string>>;
  /** Milliseconds of `performance.now()` at which each post arrived, by `visibleKey`. */
  readonly visible: ReadonlyMap<string, number>;
  /** The same of every delivery of a webhook. */
  readonly deliveries: readonly number[];
  /** Bytes of uploaded files that arrived. */
  uploadedBytes(): number;
  endpointUrl(tenant: string): string;
  /** An address of a video file of about that size. */
  videoUrl(bytes: number): string;
  stop(): Promise<void>;
}

/** What Bluesky is sent of a post. */
interface Put {
  readonly repo: string;
  readonly rkey: string;
  readonly record: { readonly text: string };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function answerJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}

const zeros = Buffer.alloc(PIECE_BYTES);

/** A real clip, followed by a box that players pass over: as long as is asked for, and nobody has it in memory. */
class LongVideo {
  readonly #clip = readFileSync(VIDEO);

  async send(request: IncomingMessage, response: ServerResponse, bytes: number): Promise<void> {
    const clip = this.#clip;
    const head = Buffer.alloc(BOX_HEAD_BYTES);
    head.writeUInt32BE(bytes - clip.length, 0);
    head.write("free", 4);
    const start = Buffer.concat([clip, head]);
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "");
    const from = Number(range?.[1] ?? 0);
    const to = Math.min(Number(range?.[2] || bytes - 1), bytes - 1);
    response.writeHead(range === null ? 200 : 206, {
      "content-type": "video/mp4",
      "content-length": to - from + 1,
      "accept-ranges": "bytes",
      etag: '"the-video"',
      ...(range === null ? {} : { "content-range": `bytes ${from}-${to}/${bytes}` }),
    });
    const pieces = function* () {
      for (let at = from; at <= to;) {
        const end = Math.min(to + 1, at < start.length ? start.length : at + PIECE_BYTES);
        yield at < start.length ? start.subarray(at, end) : zeros.subarray(0, end - at);
        at = end;
      }
    };
    await pipeline(Readable.from(pieces()), response);
  }
}

export async function startInstantNetwork(answersAfterMs = 0): Promise<InstantNetwork> {
  const visible = new Map<string, number>();
  const deliveries: number[] = [];
  const video = new LongVideo();
  let uploaded = 0;

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    if (pathname === "/api/v1/statuses") {
      const { status } = JSON.parse(await bodyOf(request)) as { status: string };
      visible.set(visibleKey("mastodon", status), performance.now());
      const id = String(visible.size);
      if (answersAfterMs > 0) await delay(answersAfterMs);
      answerJson(response, { id, url: `https://${NETWORK_HOST}/@bench/${id}` });
    } else if (pathname === "/xrpc/com.atproto.repo.putRecord") {
      const { repo, rkey, record } = JSON.parse(await bodyOf(request)) as Put;
      visible.set(visibleKey("bluesky", record.text), performance.now());
      answerJson(response, { uri: `at://${repo}/app.bsky.feed.post/${rkey}`, cid: "bench" });
    } else if (pathname === "/api/v2/media") {
      for await (const chunk of request) uploaded += (chunk as Buffer).length;
      answerJson(response, { id: "1", type: "video", url: `https://${NETWORK_HOST}/1.mp4` });
    } else if (pathname.startsWith("/hooks/")) {
      await bodyOf(request);
      deliveries.push(performance.now());
      response.writeHead(200).end();
    } else if (pathname.startsWith("/videos/")) {
      const bytes = Number(/\d+/.exec(pathname)?.[0]);
      if (request.method === "HEAD")
        response.writeHead(200, { "content-type": "video/mp4", "content-length": bytes }).end();
      else await video.send(request, response, bytes);
    } else response.writeHead(404).end();
  };

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error as Error));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const hosts = [NETWORK_HOST, HOOKS_HOST, FILES_HOST].map((host) => [host, origin]);
  const network: InstantNetwork = {
    settings: {
      OUTBOUND_HOST_MAP: JSON.stringify(Object.fromEntries(hosts)),
      OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32",
    },
    visible,
    deliveries,
    uploadedBytes: () => uploaded,
    endpointUrl: (tenant) => `https://${HOOKS_HOST}/hooks/${tenant}`,
    videoUrl: (bytes) => `https://${FILES_HOST}/videos/${bytes}.mp4`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return network;
}
