import { isObject } from "../exchange.ts";
import { checkFacets } from "./facets.ts";
import { checkEmbed } from "./embeds.ts";
import { Shape, checkStrongReference } from "./shape.ts";

const TEXT_BYTES_MAX = 3000;
const TEXT_GRAPHEMES_MAX = 300;
const DATETIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,20})?(Z|[+-]\d\d:\d\d)$/;
const LANGUAGE = /^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$/;

/** Checks a record against app.bsky.feed.post; throws `RecordProblem` with the path of the first thing that is wrong. */
export function checkPostRecord(record: Record<string, unknown>): void {
  const shape = new Shape(record, []);
  const text = shape.string("text", { bytesMax: TEXT_BYTES_MAX, graphemesMax: TEXT_GRAPHEMES_MAX });
  const createdAt = shape.string("createdAt");
  if (!DATETIME.test(createdAt) || Number.isNaN(Date.parse(createdAt)))
    shape.fail("createdAt", `Invalid datetime (got ${JSON.stringify(createdAt)})`);
  for (const [index, language] of shape.list("langs", 3).entries()) {
    if (typeof language !== "string" || !LANGUAGE.test(language))
      shape.fail(["langs", index], `Invalid language (got ${JSON.stringify(language)})`);
  }
  const tags = shape.list("tags", 8);
  for (const index of tags.keys())
    new Shape({ tag: tags[index] }, ["tags", index]).string("tag", {
      bytesMax: 640,
      graphemesMax: 64,
    });
  checkFacets(shape.list("facets", 1000), text);
  checkLabels(shape);
  checkReply(shape);
  if (record["embed"] !== undefined) checkEmbed(shape.object("embed"));
}

function checkLabels(shape: Shape): void {
  if (shape.value["labels"] === undefined) return;
  const labels = shape.object("labels");
  if (labels.string("$type") !== "com.atproto.label.defs#selfLabels")
    labels.fail("$type", 'Expected "com.atproto.label.defs#selfLabels"');
  labels.required("values");
  for (const label of labels.objects("values", 10)) label.string("val", { bytesMax: 128 });
}

function checkReply(shape: Shape): void {
  if (shape.value["reply"] === undefined) return;
  const reply = shape.object("reply");
  for (const end of ["root", "parent"]) checkStrongReference(reply.object(end));
}

export interface BlobUse {
  readonly cid: string;
  readonly mimeType: unknown;
  readonly size: unknown;
}

/** Every blob that the record refers to, wherever it is. */
export function blobsOf(value: unknown): BlobUse[] {
  if (Array.isArray(value)) return value.flatMap(blobsOf);
  if (!isObject(value)) return [];
  const { ref } = value;
  if (value["$type"] === "blob" && isObject(ref))
    return [{ cid: String(ref["$link"]), mimeType: value["mimeType"], size: value["size"] }];
  return Object.values(value).flatMap(blobsOf);
}
