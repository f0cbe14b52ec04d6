import {
  type FetchedMedia,
  type MediaFile,
  MediaFailure,
} from "../../src/shared/networks/contract/media.ts";
import {
  type HttpRequest,
  type HttpResponse,
  HttpFailure,
} from "../../src/shared/runtime/http-call.ts";
import { readPageCard } from "../../src/shared/media/page-card.ts";
import type { NetworkApp, ServiceIdentity } from "../../src/shared/networks/contract/settings.ts";
import type { NetworkData } from "../../src/shared/networks/contract/draft.ts";
import type { NetworkTools } from "../../src/shared/networks/contract/tools.ts";

export const NOW = new Date("2026-11-20T09:00:00.000Z");

export function answer(
  status: number,
  body: unknown = "",
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  const isText = typeof body === "string";
  const text = isText ? body : JSON.stringify(body);
  return {
    status,
    headers: {
      ...(isText ? {} : { "content-type": "application/json; charset=utf-8" }),
      ...headers,
    },
    body: Buffer.from(text),
    text: () => text,
    json: () => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        return undefined;
      }
    },
  };
}

export function htmlPage(status: number): HttpResponse {
  return answer(status, "<!doctype html><title>Bad gateway</title>", {
    "content-type": "text/html",
  });
}

export const lost = new HttpFailure("in_doubt", "timeout");
export const refusedToConnect = new HttpFailure("not_sent", "connect_failed");

export type Reply =
  HttpResponse | HttpFailure | ((request: HttpRequest) => HttpResponse | HttpFailure);

export interface Script {
  /** By method and URL without its query; a list is used up in order and its last reply then stays. */
  readonly http?: Readonly<Record<string, Reply | readonly Reply[]>>;
  readonly media?: Readonly<Record<string, FetchedMedia | MediaFailure>>;
  readonly hosts?: Readonly<Record<string, NetworkData>>;
  /** Texts that name servers have, by name. */
  readonly dns?: Readonly<Record<string, readonly string[]>>;
  readonly now?: Date;
  readonly app?: NetworkApp;
  readonly service?: ServiceIdentity;
}

export interface ScriptedTools extends NetworkTools {
  fitImage: NetworkTools["fitImage"];
  openMedia: NetworkTools["openMedia"];
  readonly calls: readonly HttpRequest[];
  /** The calls so far, as `METHOD url` without the query. */
  readonly asked: readonly string[];
  readonly saved: ReadonlyMap<string, NetworkData>;
}

/** Tools that answer by a script; a call that is not in it fails the test. */
export function scriptedTools(script: Script = {}): ScriptedTools {
  const calls: HttpRequest[] = [];
  const asked: string[] = [];
  const saved = new Map<string, NetworkData>(Object.entries(script.hosts ?? {}));
  const used = new Map<string, number>();
  return {
    app: script.app,
    service: script.service ?? { name: "Publishing Relay", url: "https://relay.example" },
    calls,
    asked,
    saved,
    now: () => script.now ?? NOW,
    dnsTexts: (name) => Promise.resolve(script.dns?.[name] ?? []),
    http(request) {
      const name = `${request.method} ${request.url.split("?", 1)[0] ?? ""}`;
      calls.push(request);
      asked.push(name);
      const replies = script.http?.[name];
      if (replies === undefined) throw new Error(`not in the script: ${name}`);
      const turn = used.get(name) ?? 0;
      used.set(name, turn + 1);
      const list: readonly Reply[] = Array.isArray(replies) ? replies : [replies as Reply];
      const reply = list[Math.min(turn, list.length - 1)];
      const result = typeof reply === "function" ? reply(request) : reply;
      if (result === undefined) throw new Error(`an empty list of replies: ${name}`);
      return result instanceof HttpFailure ? Promise.reject(result) : Promise.resolve(result);
    },
    /** What is not in the script is a picture by its name, or can't be had. */
    openMedia(url, { bytesMax }) {
      const media = script.media?.[url];
      if (media === undefined)
        return /\.(?:jpg|png)$/.test(url)
          ? Promise.resolve(opened(image()))
          : Promise.reject(new MediaFailure("media_unreachable", "not in the script"));
      if (media instanceof MediaFailure) return Promise.reject(media);
      return media.bytes.byteLength > bytesMax
        ? Promise.reject(new MediaFailure("media_rejected", "larger than asked for"))
        : Promise.resolve(opened(media));
    },
    readPage: (page) => Promise.resolve(readPageCard(page)),
    /** What is scripted is no real picture: it fits as it is, or not at all. */
    async fitImage(file, { bytesMax, types, pixelsMax = Infinity }) {
      const { contentType, width, height, size } = file;
      const reason =
        size > bytesMax
          ? "size"
          : !types.includes(contentType)
            ? "type"
            : (width ?? 0) * (height ?? 0) > pixelsMax
              ? "pixels"
              : undefined;
      if (reason !== undefined) throw new MediaFailure("media_rejected", "scripted", { reason });
      return { bytes: await file.read(0, size - 1), contentType, width, height, repairs: [] };
    },
    addressOf: (url) => Promise.resolve(url),
    fittedUrl: ({ url }) => `https://relay.example.test/v1/media/public/${encodeURIComponent(url)}`,
    hosts: {
      find: (host) => Promise.resolve(saved.get(host)),
      save(host, data) {
        saved.set(host, data);
        return Promise.resolve();
      },
    },
  };
}

/** A file in memory, opened. */
export function opened({ bytes, ...facts }: FetchedMedia): MediaFile {
  return {
    ...facts,
    size: bytes.byteLength,
    durationSeconds: null,
    version: '"scripted"',
    read: (first, last) => Promise.resolve(bytes.subarray(first, last + 1)),
    async *chunks() {
      yield bytes;
    },
    close: () => Promise.resolve(),
  };
}

export function image(overrides: Partial<FetchedMedia> = {}): FetchedMedia {
  return {
    bytes: Buffer.from("picture"),
    contentType: "image/jpeg",
    width: 1200,
    height: 800,
    ...overrides,
  };
}

function sentText(request: HttpRequest | undefined): string {
  if (typeof request?.body !== "string") throw new Error("the request has no text as its body");
  return request.body;
}

/** The request's JSON body. */
export function sentJson(request: HttpRequest | undefined): Record<string, unknown> {
  return JSON.parse(sentText(request)) as Record<string, unknown>;
}

/** The request's form. */
export function sentForm(request: HttpRequest | undefined): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(sentText(request)));
}

/** The request's body, streamed or not. */
export async function sentBytes(request: HttpRequest | undefined): Promise<Buffer> {
  const body = request?.body;
  if (body instanceof Uint8Array) return Buffer.from(body);
  if (typeof body !== "object" || !("chunks" in body)) throw new Error("the body is no file");
  const parts: Uint8Array[] = [];
  for await (const part of body.chunks()) parts.push(part);
  return Buffer.concat(parts);
}

/** The fields of the request's multipart form, as a server reads them. */
export async function sentMultipart(request: HttpRequest | undefined): Promise<FormData> {
  const headers = { "content-type": request?.headers?.["content-type"] ?? "" };
  return await new Response(new Uint8Array(await sentBytes(request)), { headers }).formData();
}

/** What the request's length is told to be. */
export function sentSize({ body }: HttpRequest): number {
  if (body instanceof Uint8Array) return body.byteLength;
  return typeof body === "object" && "chunks" in body ? body.size : 0;
}
