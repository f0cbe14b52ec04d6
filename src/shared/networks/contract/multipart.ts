import { randomUUID } from "node:crypto";
import type { HttpRequest, StreamedBody } from "../../runtime/http-call.ts";
import type { Texts } from "./draft.ts";

interface FilePart {
  readonly name: string;
  readonly filename: string;
  readonly contentType: string;
  /** In memory or streamed. */
  readonly body: Uint8Array | StreamedBody;
}

/**
 * Makes a form with one file and the exact length of its body (RFC 7578), which some servers require. Values arrive as
 * they are. `FormData` would send each line break of a value as two characters, so that a text of exactly the allowed
 * length would arrive longer than that. Field names are ours; values may contain anything.
 */
export function multipartWithFile(
  fields: Texts,
  { name, filename, contentType, body }: FilePart,
): Required<Pick<HttpRequest, "headers">> & { readonly body: StreamedBody } {
  const boundary = `relay-${randomUUID()}`;
  const parts = Object.entries(fields).map(
    ([field, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`,
  );
  const head = Buffer.from(
    `${parts.join("")}--${boundary}\r\n` +
      `Content-Disposition: form-data; name="${name}"; filename="${filename}"\r\n` +
      `Content-Type: ${contentType}\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const size = body instanceof Uint8Array ? body.byteLength : body.size;
  return {
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    body: {
      size: head.length + size + tail.length,
      async *chunks() {
        yield head;
        if (body instanceof Uint8Array) yield body;
        else yield* body.chunks();
        yield tail;
      },
    },
  };
}
