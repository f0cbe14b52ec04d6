import { randomUUID } from "node:crypto";
import type { HttpRequest, StreamedBody } from "../../runtime/http-call.ts";
import type { LegDraft, Texts } from "../contract/draft.ts";
import { ownOptionsOf } from "./options.ts";

/** Makes a unique file name, because some servers store files by name and replace one with another. */
function fileName(name: string, contentType: string): string {
  return `${name}.${contentType.split("/")[1]?.replace(/[^a-z0-9]/g, "") ?? "bin"}`;
}

/** Returns the form's fields for a file. A focal point is two numbers separated by a comma. */
export function fieldsOf(draft: LegDraft, mediaIndex: number): Texts {
  const altText = draft.media[mediaIndex]?.altText;
  const point = ownOptionsOf(draft).focus?.[mediaIndex];
  return {
    ...(altText ? { description: altText } : {}),
    ...(point ? { focus: `${point.x},${point.y}` } : {}),
  };
}

/** Makes the form that uploads a file, in memory or streamed. */
export function uploadForm(
  { body, contentType }: { readonly body: Uint8Array | StreamedBody; readonly contentType: string },
  name: string,
  fields: Texts,
): Pick<HttpRequest, "headers" | "body"> {
  const filename = fileName(name, contentType);
  if (!(body instanceof Uint8Array))
    return multipartWithFile(fields, { name: "file", filename, contentType, body });
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(body)], { type: contentType }), filename);
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  return { body: form };
}

interface FilePart {
  readonly name: string;
  readonly filename: string;
  readonly contentType: string;
  readonly body: StreamedBody;
}

/**
 * Makes a form with one streamed file, for servers that require the exact length of the body (RFC 7578). A file in
 * memory is sent as `FormData`. Field names are ours; values may contain anything.
 */
export function multipartWithFile(
  fields: Texts,
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
