import type { Dialler } from "../../src/shared/media/media-request.ts";
import type { HttpRequest, HttpResponse } from "../../src/shared/runtime/http-call.ts";

/** Gives out one file in ranges, as a good server does, without one. */
export function inMemory(
  bytes: Uint8Array,
  stated: Readonly<Record<string, string>> = {},
): Dialler {
  const answer = ({ headers }: HttpRequest) => {
    const range = /^bytes=(\d+)-(\d+)$/.exec(headers?.["range"] ?? "");
    const [first, last] = [Number(range?.[1] ?? 0), Number(range?.[2] ?? bytes.length - 1)];
    const body = bytes.subarray(first, last + 1);
    const end = first + body.length - 1;
    return {
      status: 206,
      headers: {
        ...stated,
        etag: '"one"',
        "content-range": `bytes ${first}-${end}/${bytes.length}`,
      },
      body,
    };
  };
  return {
    request: (request): Promise<HttpResponse> =>
      Promise.resolve({ ...answer(request), text: () => "", json: () => undefined }),
    open(request) {
      const { body, ...head } = answer(request);
      async function* chunks(): AsyncGenerator<Uint8Array> {
        yield body;
      }
      return Promise.resolve({ ...head, chunks, cancel: () => undefined });
    },
  };
}

/** The bytes of a file that is read in pieces alone. */
export const NO_CHUNKS = {
  size: 0,
  chunks: (): AsyncIterable<Uint8Array> => {
    throw new Error("not read as a whole");
  },
};
