import type { LegToPublish, NetworkTools, PrepareOutcome, Rejected, TryLater } from "../network.ts";
import { HttpFailure, MediaFailure } from "../network.ts";
import type { Facet, Stretch } from "./facets.ts";
import { facetsOf, findStretches } from "./facets.ts";
import { resolveHandle } from "./identity.ts";
import { fetchPageCard } from "./link-card.ts";
import type { LinkCard } from "./options.ts";
import { ownOptionsOf } from "./options.ts";
import { COLLECTION, remoteOf } from "./remote.ts";
import { RULES } from "./rules.ts";
import type { Credentials } from "./session.ts";
import { credentialsOf } from "./session.ts";
import type { Blob, UploadedFile } from "./upload.ts";
import { fetchFailed, uploadBlob, uploadMedia } from "./upload.ts";

const MENTIONS_MAX = 20;
const RESOLVE_TIMEOUT_MS = 5000;

interface Embed {
  readonly $type: string;
  readonly [field: string]: unknown;
}

/** Uploads the files and settles the record's every byte; from then on it never changes. */
export async function prepare(leg: LegToPublish, tools: NetworkTools): Promise<PrepareOutcome> {
  const remote = remoteOf(leg.remote);
  if (remote.record !== undefined) return { kind: "ready", remote };
  const credentials = credentialsOf(leg.credentials);
  const stretches = findStretches(leg.draft.text);
  const embed = await makeEmbed({ leg, credentials, stretches }, tools);
  if (embed !== null && !("$type" in embed)) return embed;
  const dids = await resolveMentions(stretches, credentials, tools);
  const facets = facetsOf(leg.draft.text, stretches, dids);
  return {
    kind: "ready",
    remote: { ...remote, record: postRecord(leg, { createdAt: remote.createdAt, facets, embed }) },
  };
}

function postRecord(
  leg: Pick<LegToPublish, "draft">,
  parts: {
    readonly createdAt: string;
    readonly facets: readonly Facet[];
    readonly embed: Embed | null;
  },
): Record<string, unknown> {
  const { langs, labels } = ownOptionsOf(leg.draft.options);
  return {
    $type: COLLECTION,
    text: leg.draft.text,
    createdAt: parts.createdAt,
    ...(langs?.length ? { langs } : {}),
    ...(parts.facets.length > 0 ? { facets: parts.facets } : {}),
    ...(parts.embed === null ? {} : { embed: parts.embed }),
    ...(labels?.length
      ? {
          labels: {
            $type: "com.atproto.label.defs#selfLabels",
            values: labels.map((val) => ({ val })),
          },
        }
      : {}),
  };
}

/** A handle that can't be resolved stays plain text: the network's own app does the same. */
async function resolveMentions(
  stretches: readonly Stretch[],
  credentials: Credentials,
  tools: NetworkTools,
): Promise<ReadonlyMap<string, string>> {
  const handles = new Set(
    stretches.flatMap((stretch) => (stretch.kind === "mention" ? [stretch.handle] : [])),
  );
  const resolved = await Promise.all(
    [...handles].slice(0, MENTIONS_MAX).map(async (handle) => {
      const options = { origin: credentials.pds, timeoutMs: RESOLVE_TIMEOUT_MS };
      const did = await resolveHandle(handle, tools, options);
      return typeof did === "string" ? ([[handle, did]] as const) : [];
    }),
  );
  return new Map(resolved.flat());
}

interface Making {
  readonly leg: LegToPublish;
  readonly credentials: Credentials;
  readonly stretches: readonly Stretch[];
}

async function makeEmbed(
  making: Making,
  tools: NetworkTools,
): Promise<Embed | null | TryLater | Rejected> {
  const { leg, credentials, stretches } = making;
  if (leg.draft.media.length > 0) {
    const files = await uploadMedia(leg, credentials, tools);
    return "failure" in files ? files : mediaEmbed(files);
  }
  const { linkCard } = ownOptionsOf(leg.draft.options);
  if (linkCard === false) return null;
  if (linkCard !== undefined) return givenCard(linkCard, credentials, tools);
  const link = stretches.find((stretch) => stretch.kind === "link");
  return link === undefined ? null : foundCard(link.uri, credentials, tools);
}

function mediaEmbed(files: readonly UploadedFile[]): Embed {
  const [first] = files;
  if (first?.kind === "video") {
    const { blob, alt, aspectRatio } = first;
    return {
      $type: "app.bsky.embed.video",
      video: blob,
      ...(alt === "" ? {} : { alt }),
      ...(aspectRatio === null ? {} : { aspectRatio }),
    };
  }
  if (files.length > RULES.plainImagesMax) {
    return {
      $type: "app.bsky.embed.gallery",
      items: files.map(({ blob, alt, aspectRatio }) => ({
        $type: "app.bsky.embed.gallery#image",
        image: blob,
        alt,
        // Required here; only a hint for the space that a client keeps free.
        aspectRatio: aspectRatio ?? { width: 1, height: 1 },
      })),
    };
  }
  return {
    $type: "app.bsky.embed.images",
    images: files.map(({ blob, alt, aspectRatio }) => ({
      image: blob,
      alt,
      ...(aspectRatio === null ? {} : { aspectRatio }),
    })),
  };
}

/** A picture that the customer asked for is part of the post: without it the leg does not go out. */
async function givenCard(
  card: LinkCard,
  credentials: Credentials,
  tools: NetworkTools,
): Promise<Embed | TryLater | Rejected> {
  const { url, title, description = "", thumbnailUrl } = card;
  if (thumbnailUrl === undefined) return cardEmbed({ url, title, description }, null);
  try {
    const thumb = await uploadThumbnail(thumbnailUrl, credentials, tools);
    return "failure" in thumb ? thumb : cardEmbed({ url, title, description }, thumb);
  } catch (error) {
    if (error instanceof MediaFailure) return fetchFailed(error);
    throw error;
  }
}

/** Best effort: a page that can't be read costs the post its card, never more. */
async function foundCard(
  url: string,
  credentials: Credentials,
  tools: NetworkTools,
): Promise<Embed | null> {
  const card = await fetchPageCard(url, tools);
  if (card === undefined) return null;
  const { title, description, imageUrl } = card;
  const text = { url, title, description };
  if (imageUrl === null) return cardEmbed(text, null);
  try {
    const thumb = await uploadThumbnail(imageUrl, credentials, tools);
    return cardEmbed(text, "failure" in thumb ? null : thumb);
  } catch (error) {
    if (error instanceof MediaFailure || error instanceof HttpFailure) return cardEmbed(text, null);
    throw error;
  }
}

async function uploadThumbnail(
  url: string,
  credentials: Credentials,
  tools: NetworkTools,
): Promise<Blob | TryLater | Rejected> {
  const media = await tools.fetchMedia(url, { bytesMax: RULES.thumbnailBytesMax });
  if (!media.contentType.startsWith("image/")) {
    throw new MediaFailure(
      "media_rejected",
      `the picture of the link card is ${media.contentType}`,
    );
  }
  return uploadBlob(media, { credentials }, tools);
}

function cardEmbed(
  card: { readonly url: string; readonly title: string; readonly description: string },
  thumb: Blob | null,
): Embed {
  return {
    $type: "app.bsky.embed.external",
    external: {
      uri: card.url,
      title: card.title,
      description: card.description,
      ...(thumb === null ? {} : { thumb }),
    },
  };
}
