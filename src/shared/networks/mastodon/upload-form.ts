import { randomUUID } from "node:crypto";
import type { HttpRequest, StreamedBody } from "../../runtime/http-call.ts";
import type { LegDraft } from "../contract/draft.ts";
import type { FetchedMedia, MediaFile } from "../contract/media.ts";
import { ownOptionsOf } from "./options.ts";

interface UploadForm {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: NonNullable<HttpRequest["body"]>;
}

/** Returns a file's name, which no other file has: some servers keep files by name, and put one in another's place. */
function fileName(name: string, contentType: string): string {
  return `${name}.${contentType.split("/")[1]?.replace(/[^a-z0-9]/g, "") ?? "bin"}`;
}

type FormFields = Readonly<Record<string, string>>;

/** Returns the form's fields for a file. A focal point is two numbers with a comma between them. */
export function fieldsOf({ media: items, options }: LegDraft, mediaIndex: number): FormFields {
  const altText = items[mediaIndex]?.altText;
  const point = ownOptionsOf(options).focus?.[mediaIndex];
  return {
    ...(altText ? { description: altText } : {}),
    ...(point ? { focus: `${point.x},${point.y}` } : {}),
  };
}

export function imageForm(
  { bytes, contentType }: FetchedMedia,
  name: string,
  fields: FormFields,
): UploadForm {
  const form = new FormData();
  const blob = new Blob([new Uint8Array(bytes)], { type: contentType });
  form.set("file", blob, fileName(name, contentType));
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  return { body: form };
}

export function streamedForm(file: MediaFile, name: string, fields: FormFields): UploadForm {
  const { contentType } = file;
  const part = { name: "file", filename: fileName(name, contentType), contentType, body: file };
  return multipartWithFile(fields, part);
}

interface FilePart {
  readonly name: string;
  readonly filename: string;
  readonly contentType: string;
  readonly body: StreamedBody;
}

/**
 * Returns a form with one streamed file, for servers that require the exact length of the body (RFC 7578). A file that
 * is in memory is sent as `FormData`. Field names are ours; values may hold anything.
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
