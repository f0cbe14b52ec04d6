import type { Plan } from "../faults.ts";
import { look } from "./assets.ts";
import { badField, linkedInRefusal } from "./errors.ts";
import type { PostBody } from "./post-body.ts";
import type { Article, Asset, LinkedInShared, PostMedia } from "./state.ts";

const ALT_MAX = 4086;
const IMAGES = { min: 2, max: 20 };
const TITLE_MAX = 400;
const DESCRIPTION_MAX = 4086;

interface Content {
  readonly media: readonly PostMedia[];
  readonly article: Article | null;
  readonly urnType: "share" | "ugcPost";
}

function mediaProblem(code: string, message: string) {
  return linkedInRefusal({ status: 400, code, message });
}

/** An asset of the author's that is ready to be shown. For members, whose tokens can't look, trying is a look. */
function usableAsset(
  shared: LinkedInShared,
  author: string,
  urn: string,
  kinds: readonly Asset["kind"][],
): Asset {
  if (!kinds.some((kind) => urn.startsWith(`urn:li:${kind}:`)))
    throw badField("content", "INVALID_URN_TYPE", `${urn} is not one of ${kinds.join(", ")}`);
  const asset = shared.state.assets.get(urn);
  if (asset === undefined)
    throw badField("content", "INVALID_URN_ID", `${urn} is not an existing asset`);
  if (asset.owner !== author)
    throw badField("content", "INVALID_CONTENT_OWNERSHIP", `${urn} is not owned by the author`);
  switch (look(asset)) {
    case "WAITING_UPLOAD":
      throw mediaProblem("MEDIA_ASSET_WAITING_UPLOAD", "Media asset is waiting upload");
    case "PROCESSING":
      throw mediaProblem("MEDIA_ASSET_WAITING_UPLOAD", "Media asset is still processing");
    case "PROCESSING_FAILED":
      throw mediaProblem("MEDIA_ASSET_PROCESSING_FAILED", "Media asset processing failed");
    case "AVAILABLE":
      return asset;
  }
}

function checkedAlt(alt: string | undefined): string | null {
  if (alt !== undefined && alt.length > ALT_MAX)
    throw badField("content", "FIELD_LENGTH_TOO_LONG", `altText is longer than ${ALT_MAX}`);
  return alt ?? null;
}

type Sent = NonNullable<PostBody["content"]>;

function single(
  shared: LinkedInShared,
  author: string,
  media: NonNullable<Sent["media"]>,
): Content {
  const { kind, urn } = usableAsset(shared, author, media.id, ["image", "video", "document"]);
  const title = media.title ?? null;
  if (kind === "document" && (title === null || title === ""))
    throw badField("content.media.title", "MISSING_FIELD", "A document needs a title");
  const urnType = kind === "image" ? "share" : "ugcPost";
  return { media: [{ urn, alt: checkedAlt(media.altText), title }], article: null, urnType };
}

function several(
  shared: LinkedInShared,
  author: string,
  { images }: NonNullable<Sent["multiImage"]>,
): Content {
  if (images.length < IMAGES.min || images.length > IMAGES.max)
    throw badField("content.multiImage.images", "INVALID_VALUE", "There must be 2 to 20 images");
  const media = images.map(({ id, altText }): PostMedia => {
    const { urn } = usableAsset(shared, author, id, ["image"]);
    return { urn, alt: checkedAlt(altText), title: null };
  });
  return { media, article: null, urnType: "ugcPost" };
}

function article(
  shared: LinkedInShared,
  author: string,
  sent: NonNullable<Sent["article"]>,
): Content {
  const { source, title, description = "", thumbnail } = sent;
  if (!/^https?:\/\//.test(source) || !URL.canParse(source))
    throw badField("content.article.source", "INVALID_VALUE", "source must be an address");
  if (title === "") throw badField("content.article.title", "MISSING_FIELD", "title is required");
  if (title.length > TITLE_MAX || description.length > DESCRIPTION_MAX)
    throw badField("content.article", "FIELD_LENGTH_TOO_LONG", "title or description is too long");
  const image =
    thumbnail === undefined ? null : usableAsset(shared, author, thumbnail, ["image"]).urn;
  const shown = { source, title, description, thumbnail: image };
  return { media: [], article: shown, urnType: "share" };
}

/** `[processing:N]` in a post makes its files wait, once. */
function delay(shared: LinkedInShared, content: Sent, plan: Plan): void {
  if (plan.processing === undefined) return;
  const urns = [
    content.media?.id,
    ...(content.multiImage?.images ?? []).map(({ id }) => id),
    content.article?.thumbnail,
  ];
  for (const urn of urns) {
    const asset = shared.state.assets.get(urn ?? "");
    if (asset === undefined || asset.delayed) continue;
    asset.delayed = true;
    asset.pollsLeft = plan.processing;
  }
}

/** What the post shows besides its text. */
export function checkedContent(
  shared: LinkedInShared,
  { author, content = {} }: PostBody,
  plan: Plan,
): Content {
  delay(shared, content, plan);
  if (content.media !== undefined) return single(shared, author, content.media);
  if (content.multiImage !== undefined) return several(shared, author, content.multiImage);
  if (content.article !== undefined) return article(shared, author, content.article);
  return { media: [], article: null, urnType: "share" };
}
