import { RelayConnectionError, RelayError } from "./errors.ts";
import { backoffMs, pause, REPEATS_MAX } from "./exchange.ts";
import type { UploadOptions } from "./types.ts";

/** Where storage accepts the bytes, as `createMedia` answers. */
export interface UploadAddress {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Calls until an attempt succeeds or fails for good, with as many repeats as other calls have. `isLast` is of an error that no repeat changes.
 * @throws what the last attempt threw
 */
export async function persist<Result>(
  call: (attempt: number) => Promise<Result>,
  isLast: (error: unknown) => boolean,
  signal: AbortSignal,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await call(attempt);
    } catch (error) {
      signal.throwIfAborted();
      if (attempt > REPEATS_MAX || isLast(error)) throw error;
      await pause(backoffMs(attempt - 1), signal);
    }
}

/**
 * Sends a file's bytes to storage until they have arrived. Storage refuses bytes that it has already, so a refusal
 * counts at the first attempt only: after that, the relay says what became of the bytes.
 * @throws RelayConnectionError when storage refuses them or can't be reached
 */
export function putBytes(
  file: Blob,
  address: UploadAddress,
  onProgress: UploadOptions["onProgress"],
  signal: AbortSignal,
): Promise<void> {
  const put = async (attempt: number) => {
    onProgress?.(0, file.size);
    const status = await send(file, address, onProgress, signal);
    const isRefused = isRefusal(status);
    if ((status >= 200 && status < 300) || (isRefused && attempt > 1))
      return onProgress?.(file.size, file.size);
    throw new RelayConnectionError(
      status === 0 ? "Storage can't be reached." : `Storage answered ${status}.`,
      { status },
    );
  };
  return persist(put, (error) => isRefusal((error as RelayConnectionError).status ?? 0), signal);
}

const isRefusal = (status: number) =>
  status >= 400 && status < 500 && status !== 408 && status !== 429;

/** What pages have to send a request with, and workers and servers don't: only this tells how far it is. */
interface PageUpload {
  readonly status: number;
  readonly upload: {
    addEventListener(type: "progress", listen: (event: { loaded: number }) => void): void;
  };
  addEventListener(type: "loadend", listen: () => void): void;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  send(body: Blob): void;
  abort(): void;
}

/** Sends the bytes once. Returns the status of the answer, or 0 without one. */
async function send(
  file: Blob,
  { method, url, headers }: UploadAddress,
  onProgress: UploadOptions["onProgress"],
  signal: AbortSignal,
): Promise<number> {
  const { XMLHttpRequest: PageRequest } = globalThis as { XMLHttpRequest?: new () => PageUpload };
  if (onProgress !== undefined && PageRequest !== undefined)
    return new Promise((resolve) => {
      const request = new PageRequest();
      const abort = () => request.abort();
      signal.addEventListener("abort", abort);
      request.upload.addEventListener("progress", ({ loaded }) => onProgress(loaded, file.size));
      request.addEventListener("loadend", () => {
        signal.removeEventListener("abort", abort);
        resolve(request.status);
      });
      request.open(method, url);
      for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
      request.send(file);
    });
  try {
    const answer = await fetch(url, { method, headers, body: file, signal });
    await answer.body?.cancel();
    return answer.status;
  } catch {
    return 0;
  }
}

/** Tells whether a repeat of the same call can't change this error. */
export const isLasting = (error: unknown) =>
  !(error instanceof RelayConnectionError) &&
  !(error instanceof RelayError && (error.status === 429 || error.status >= 500));
