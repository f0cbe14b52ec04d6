import { checkStrongReference } from "./shape.ts";
import type { Shape } from "./shape.ts";
import { isContentId } from "./content-id.ts";

const IMAGE_BYTES_MAX = 2_000_000;
const THUMB_BYTES_MAX = 1_000_000;
const VIDEO_BYTES_MAX = 300_000_000;
const CAPTION_BYTES_MAX = 20_000;

function checkBlob(owner: Shape, name: string, accept: RegExp, bytesMax: number): void {
  const blob = owner.object(name);
  if (blob.string("$type") !== "blob") blob.fail("$type", 'Expected "blob"');
  const link = blob.object("ref").string("$link");
  if (!isContentId(link)) blob.fail(["ref"], "Invalid CID");
  const mimeType = blob.string("mimeType");
  const size = blob.integer("size", 0);
  if (!accept.test(mimeType))
    owner.fail(name, `Invalid mime type (got ${JSON.stringify(mimeType)})`);
  if (size > bytesMax) owner.fail(name, `blob too big (maximum ${bytesMax}, got ${size})`);
}

function checkAspectRatio(owner: Shape, required: boolean): void {
  if (!required && owner.value["aspectRatio"] === undefined) return;
  const ratio = owner.object("aspectRatio");
  ratio.integer("width", 1);
  ratio.integer("height", 1);
}

function checkImages(embed: Shape): void {
  embed.required("images");
  for (const image of embed.objects("images", 4)) {
    checkBlob(image, "image", /^image\//, IMAGE_BYTES_MAX);
    image.string("alt");
    checkAspectRatio(image, false);
  }
}

function checkGallery(embed: Shape): void {
  embed.required("items");
  for (const item of embed.objects("items", 20)) {
    if (item.string("$type") !== "app.bsky.embed.gallery#image")
      item.fail("$type", 'Expected "app.bsky.embed.gallery#image"');
    checkBlob(item, "image", /^image\//, IMAGE_BYTES_MAX);
    item.string("alt");
    checkAspectRatio(item, true);
  }
}

function checkVideo(embed: Shape): void {
  checkBlob(embed, "video", /^video\/mp4$/, VIDEO_BYTES_MAX);
  if (embed.value["alt"] !== undefined)
    embed.string("alt", { bytesMax: 10_000, graphemesMax: 1000 });
  checkAspectRatio(embed, false);
  for (const caption of embed.objects("captions", 20)) {
    caption.string("lang");
    checkBlob(caption, "file", /^text\/vtt$/, CAPTION_BYTES_MAX);
  }
}

function checkExternal(embed: Shape): void {
  const external = embed.object("external");
  const uri = external.string("uri");
  if (!/^[a-z][a-z0-9+.-]*:\S+$/i.test(uri))
    external.fail("uri", `Invalid uri (got ${JSON.stringify(uri)})`);
  external.string("title");
  external.string("description");
  if (external.value["thumb"] !== undefined)
    checkBlob(external, "thumb", /^image\//, THUMB_BYTES_MAX);
}

/**
 * Checks a post's embed. The reference server also stores embeds of a type it does not know, which no client shows;
 * the sandbox refuses them, so that such a defect is seen.
 */
export function checkEmbed(embed: Shape): void {
  const type = embed.string("$type");
  switch (type) {
    case "app.bsky.embed.images":
      return checkImages(embed);
    case "app.bsky.embed.gallery":
      return checkGallery(embed);
    case "app.bsky.embed.video":
      return checkVideo(embed);
    case "app.bsky.embed.external":
      return checkExternal(embed);
    case "app.bsky.embed.record":
      return checkStrongReference(embed.object("record"));
    case "app.bsky.embed.recordWithMedia":
      checkStrongReference(embed.object("record").object("record"));
      return checkEmbed(embed.object("media"));
    default:
      embed.fail("$type", `Unknown embed (got ${JSON.stringify(type)})`);
  }
}
