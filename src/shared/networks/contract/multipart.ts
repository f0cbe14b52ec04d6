import { randomUUID } from "node:crypto";
import type { StreamedBody } from "../../runtime/http-call.ts";
import type { HttpRequest } from "../../runtime/http-call.ts";

interface FilePart {
  readonly name: string;
  readonly filename: string;
  readonly contentType: string;
  readonly body: StreamedBody;
}

/**
 * A form with one file that is streamed, for servers that want the exact length of all of it (RFC 7578). What is in
 * memory anyway goes as `FormData`. Names are ours; values may hold anything.
 */
export function multipartWithFile(
  fields: Readonly<Record<string, string>>,
  file: FilePart,
): Required<Pick<HttpRequest, "headers" | "body">> {
  const boundary = `relay-${randomUUID()}`;
  const parts = Object.entries(fields).map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head = Buffer.from(
    `${parts.join("")}--${boundary}\r\n` +
      `Content-Disposition: form-data; name="${file.name}"; filename="${file.filename}"\r\n` +
      `Content-Type: ${file.contentType}\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  return {
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    body: {
      size: head.length + file.body.size + tail.length,
      async *chunks() {
        yield head;
        yield* file.body.chunks();
        yield tail;
      },
    },
  };
}
