import type { Surroundings } from "./network.ts";

const TIMEOUT_MS = 8_000;
const REDIRECTS_MAX = 3;
const SANDBOX_HOSTS = ".sandbox.test";
const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

export type Fetched =
  | { readonly kind: "file"; readonly bytes: Buffer }
  | { readonly kind: "unreachable" | "timeout" | "too_large" };

/** Where a network may fetch from: the sandbox's own hosts and this machine. It dials nobody else. */
function dialled(address: string, origin: string): { url: string; host?: string } | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.hostname.endsWith(SANDBOX_HOSTS))
    return { url: origin + url.pathname + url.search, host: url.hostname };
  return url.protocol === "http:" && LOOPBACK.includes(url.hostname) ? { url: address } : undefined;
}

async function open(address: string, origin: string, signal: AbortSignal) {
  let at = address;
  for (let hop = 0; hop <= REDIRECTS_MAX; hop += 1) {
    const target = dialled(at, origin);
    if (target === undefined) return undefined;
    const headers = {
      "user-agent": "facebookexternalhit/1.1",
      ...(target.host === undefined ? {} : { "x-forwarded-host": target.host }),
    };
    const response = await fetch(target.url, { redirect: "manual", headers, signal });
    const location = response.headers.get("location");
    if (response.ok) return response;
    await response.body?.cancel();
    if (response.status < 300 || response.status >= 400 || location === null) return undefined;
    at = new URL(location, at).href;
  }
  return undefined;
}

/** Fetches a media file as a network does that accepts addresses instead of uploads. */
export async function fetchFile(
  { origin }: Pick<Surroundings, "origin">,
  address: string,
  bytesMax: number,
): Promise<Fetched> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await open(address, origin(), signal);
    if (response?.body == null) return { kind: "unreachable" };
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      length += chunk.length;
      // Leaving the loop cancels the rest of the body.
      if (length > bytesMax) return { kind: "too_large" };
      chunks.push(chunk);
    }
    return { kind: "file", bytes: Buffer.concat(chunks) };
  } catch {
    return { kind: signal.aborted ? "timeout" : "unreachable" };
  }
}
