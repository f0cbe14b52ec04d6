import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request as openRequest, type IncomingMessage } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";

const CLIP = readFileSync(new URL("../../sandbox/media/clip.mp4", import.meta.url));
const CLIP_URL = "https://media.sandbox.test/clip.mp4";
const PART_BYTES = 4 * 1024 * 1024;

/** What a network got of a file. */
interface ReceivedFile {
  readonly bytes: number;
  readonly sha256: string;
}

/** Stands before the sandbox's networks that take large videos. */
export interface CountingFront {
  /** The hosts for which it stands, and where it is. */
  readonly hosts: Readonly<Record<string, string>>;
  /** The last file of a network since it was last asked for. */
  take(network: string): ReceivedFile | undefined;
  stop(): Promise<void>;
}

/**
 * Counts and hashes the videos that pass, and holds none: the sandbox, which keeps files in memory, gets a small clip
 * instead of each. Everything else passes unchanged.
 */
export async function startCountingFront(sandboxUrl: () => string): Promise<CountingFront> {
  const received = new Map<string, ReceivedFile>();
  /** LinkedIn's upload under way: what it was announced as, the sandbox's own part, and what came so far. */
  let upload = { bytes: 0, hash: createHash("sha256"), got: 0, address: "", etag: "" };

  async function digest(body: AsyncIterable<Uint8Array>): Promise<ReceivedFile> {
    const hash = createHash("sha256");
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      hash.update(chunk);
    }
    return { bytes, sha256: hash.digest("hex") };
  }

  /** Fetches a file as a network does that is given its address. */
  async function fetched(network: string, address: string): Promise<string> {
    const { body } = await fetch(address);
    if (body === null) throw new Error("a file without a body");
    received.set(network, await digest(body));
    return CLIP_URL;
  }

  function ask(from: IncomingMessage, body: Uint8Array, headers: Record<string, string> = {}) {
    const { method = "GET", url = "/" } = from;
    const { "transfer-encoding": _, ...given } = from.headers;
    const sent = openRequest(new URL(url, sandboxUrl()), {
      method,
      headers: { ...given, ...headers, "content-length": body.length },
    });
    sent.end(body);
    return once(sent, "response") as Promise<[IncomingMessage]>;
  }

  async function textOf(message: AsyncIterable<Uint8Array>): Promise<string> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of message) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  }

  async function passOn(answer: IncomingMessage, response: ServerResponse): Promise<void> {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    await pipeline(answer, response);
  }

  /** LinkedIn names the parts of the file that was announced, and the sandbox the one of the clip. */
  async function beginUpload(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = JSON.parse(await textOf(request));
    const bytes: number = asked.initializeUploadRequest.fileSizeBytes;
    asked.initializeUploadRequest.fileSizeBytes = CLIP.length;
    const [answer] = await ask(request, Buffer.from(JSON.stringify(asked)));
    const begun = JSON.parse(await textOf(answer));
    const address: string = begun.value.uploadInstructions[0].uploadUrl;
    upload = { bytes, hash: createHash("sha256"), got: 0, address, etag: "" };
    begun.value.uploadInstructions = Array.from(
      { length: Math.ceil(bytes / PART_BYTES) },
      (_part, index) => ({
        uploadUrl: `${address}&part=${index}`,
        firstByte: index * PART_BYTES,
        lastByte: Math.min((index + 1) * PART_BYTES, bytes) - 1,
      }),
    );
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(begun));
  }

  async function takePart(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const index = Number(/&part=(\d+)$/.exec(request.url ?? "")?.[1]);
    if (index * PART_BYTES !== upload.got) return void response.writeHead(400).end();
    for await (const chunk of request as AsyncIterable<Buffer>) {
      upload.got += chunk.length;
      upload.hash.update(chunk);
    }
    if (upload.got === upload.bytes) {
      const [answer] = await ask(request, CLIP);
      upload.etag = answer.headers.etag ?? "";
      await textOf(answer);
      received.set("linkedin", { bytes: upload.got, sha256: upload.hash.digest("hex") });
    }
    response.writeHead(200, { etag: `part-${index}` }).end();
  }

  async function endUpload(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = JSON.parse(await textOf(request));
    asked.finalizeUploadRequest.uploadedPartIds = [upload.etag];
    await passOn((await ask(request, Buffer.from(JSON.stringify(asked))))[0], response);
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = "", headers } = request;
    const { file_url } = headers;
    if (url.includes("app.bsky.video.uploadVideo")) {
      received.set("bluesky", await digest(request));
      return passOn((await ask(request, CLIP))[0], response);
    }
    if (url.endsWith("/videos?action=initializeUpload")) return beginUpload(request, response);
    if (url.endsWith("/videos?action=finalizeUpload")) return endUpload(request, response);
    if (url.startsWith("/dms-uploads/") && url.includes("&part="))
      return takePart(request, response);
    let body = await textOf(request);
    let given = {};
    if (typeof file_url === "string") given = { file_url: await fetched("facebook", file_url) };
    else if (/\/videos(?:\?|$)/.test(url) && body.includes('"file_url"')) {
      const asked = JSON.parse(body);
      body = JSON.stringify({ ...asked, file_url: await fetched("facebook", asked.file_url) });
    } else if (/\/media(?:\?|$)/.test(url) && body.includes("video_url=")) {
      const form = new URLSearchParams(body);
      form.set("video_url", await fetched("instagram", form.get("video_url") ?? ""));
      body = form.toString();
    }
    await passOn((await ask(request, Buffer.from(body), given))[0], response);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error as Error));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const hosts = [
    "video.bsky.app",
    "www.linkedin.com",
    "api.linkedin.com",
    "rupload.facebook.com",
    "graph.facebook.com",
    "graph.instagram.com",
  ];
  return {
    hosts: Object.fromEntries(hosts.map((host) => [host, origin])),
    take(network) {
      const file = received.get(network);
      received.delete(network);
      return file;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
