import type { HttpRequest, StreamedBody } from "../../runtime/http-call.ts";
import type { LegDraft, Texts } from "../contract/draft.ts";
import { multipartWithFile } from "../contract/multipart.ts";
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
): Required<Pick<HttpRequest, "headers" | "body">> {
  const filename = fileName(name, contentType);
  return multipartWithFile(fields, { name: "file", filename, contentType, body });
}
