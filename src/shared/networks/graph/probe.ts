import { exchange } from "../contract/classified.ts";
import type { MediaKind } from "../contract/draft-rules.ts";
import { extensionOf, mediaKindOf } from "../contract/draft-rules.ts";
import type { HttpResponse } from "../../runtime/http-call.ts";
import type { NetworkTools } from "../contract/network.ts";
import { HttpFailure } from "../../runtime/http-call.ts";

const TIMEOUT_MS = 10_000;
const HOPS_MAX = 2;
const SAMPLE_BYTES_MAX = 65_536;
const IMAGE_EXTENSIONS: ReadonlySet<string> = new Set([
  "jpg",
  "jpeg",
  "jpe",
  "png",
  "gif",
  "webp",
  "bmp",
  "tif",
  "tiff",
  "heic",
  "avif",
  "svg",
]);

interface Probe {
  readonly isReachable: boolean;
  /** Null when the server does not tell. */
  readonly contentType: string | null;
}

/** Whether we can read a file that Meta is to fetch; it says the same of a file it can't read and one it can't have. */
export async function probeMedia(url: string, tools: NetworkTools): Promise<Probe> {
  for (const method of ["HEAD", "GET"] as const) {
    const answer = await follow(method, url, tools);
    if (answer === "too_large") return { isReachable: true, contentType: null };
    if (answer !== undefined && answer.status >= 200 && answer.status < 300)
      return { isReachable: true, contentType: answer.headers["content-type"] ?? null };
  }
  return { isReachable: false, contentType: null };
}

async function follow(
  method: "HEAD" | "GET",
  url: string,
  tools: NetworkTools,
): Promise<HttpResponse | "too_large" | undefined> {
  let address = url;
  for (let hop = 0; hop <= HOPS_MAX; hop += 1) {
    const answer = await exchange(tools, {
      method,
      url: address,
      headers: { accept: "*/*", ...(method === "GET" ? { range: "bytes=0-1023" } : {}) },
      timeoutMs: TIMEOUT_MS,
      bytesMax: SAMPLE_BYTES_MAX,
    });
    if (answer instanceof HttpFailure)
      return answer.reason === "too_large" ? "too_large" : undefined;
    const location = answer.headers["location"];
    const isMoved = answer.status >= 300 && answer.status < 400 && location !== undefined;
    if (!isMoved) return answer;
    if (!URL.canParse(location, address)) return undefined;
    address = new URL(location, address).href;
  }
  return undefined;
}

/** What a file is: by its name's ending, and where that tells nothing by what its server says. */
export async function findMediaKind(url: string, tools: NetworkTools): Promise<MediaKind> {
  const named = mediaKindOf(url);
  if (named !== "image" || IMAGE_EXTENSIONS.has(extensionOf(url))) return named;
  const { contentType } = await probeMedia(url, tools);
  const [kind] = /^(?:video|audio)/.exec(contentType ?? "") ?? [];
  return kind === "video" || kind === "audio" ? kind : "image";
}

/** Meta takes plain ASCII only: names in other scripts and spaces are encoded. */
export function fetchableUrl(url: string): string {
  return new URL(url).href;
}
