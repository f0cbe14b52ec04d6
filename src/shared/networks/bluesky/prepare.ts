import { withFile } from "../contract/ask.ts";
import { IMAGE_SOURCE_BYTES_MAX, MediaFailure } from "../contract/media.ts";
import { mayStartOver, type PrepareOutcome, type Rejected } from "../contract/outcome.ts";
import type { TryLater } from "../contract/outcome.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { begin, COLLECTION, type Leg, type Remote } from "./state.ts";
import {
  type Blob,
  cardEmbed,
  type Embed,
  imagesEmbed,
  uploadBlob,
  uploadMedia,
} from "./upload.ts";
import { type Facet, type Stretch, facetsOf, findStretches } from "./facets.ts";
import { resolveHandle } from "./identity.ts";
import { fetchPageCard } from "./link-card.ts";
import { type LinkCard, ownOptionsOf } from "./options.ts";
import { thumbnail } from "./rules.ts";
import { bringVideo, followVideo, type VideoStep } from "./video.ts";

const MENTIONS_MAX = 20;

/**
 * Uploads the files and makes the record. While nothing of the leg can be public, the record gets the key and the time
 * of this attempt. Feeds sort by the earlier of that time and the time of arrival (`sortAt` of `post` in
 * bluesky-social/atproto, `packages/bsky/src/data-plane/server/db/migrations/20230309T045948368Z-init.ts`), so a
 * retried post with an old time would be far down in them. After a call that may have published it, neither changes.
 */
export async function prepare(leg: Leg): Promise<PrepareOutcome> {
  const outcome = await prepareRecord(leg);
  if (outcome.kind !== "ready" || !leg.isUnpublished) return outcome;
  const { record, ...rest } = outcome.remote;
  const { rkey, createdAt } = begin({ key: leg.key, now: leg.tools.now() });
  return { kind: "ready", remote: { ...rest, rkey, createdAt, record: { ...record, createdAt } } };
}

type PreparedRecord =
  { readonly kind: "ready"; readonly remote: Remote } | Exclude<PrepareOutcome, { kind: "ready" }>;

async function prepareRecord(leg: Leg): Promise<PreparedRecord> {
  const { remote, tools } = leg;
  if (remote.record !== undefined) return { kind: "ready", remote };
  const stretches = findStretches(leg.draft.text);
  const step = await makeEmbed(leg, stretches);
  const { video: _, ...rest } = remote;
  if (step.kind === "waiting") {
    const waiting = step.video === undefined ? rest : { ...rest, video: step.video };
    return { kind: "processing", remote: waiting, ...step.wait };
  }
  if (step.kind === "rejected" && step.failure.code === "media_processing_failed") {
    // It usually can the second time: https://github.com/marcomaroni-github/twitter-to-bluesky/pull/55.
    const again = { ...rest, remadeAt: tools.now().toISOString() };
    if (mayStartOver(remote.remadeAt, tools.now()))
      return { kind: "processing", remote: again, pollAfterSeconds: 0 };
  }
  if (step.kind !== "made") return step;
  const facets = facetsOf(leg.draft.text, stretches, await resolveMentions(stretches, leg));
  return { kind: "ready", remote: { ...remote, record: postRecord(leg, facets, step.embed) } };
}

function postRecord(
  { draft, remote }: Leg,
  facets: readonly Facet[],
  embed: Embed | null,
): Record<string, unknown> {
  const { langs, labels } = ownOptionsOf(draft);
  const values = labels?.map((val) => ({ val }));
  return {
    $type: COLLECTION,
    text: draft.text,
    createdAt: remote.createdAt,
    ...(langs?.length ? { langs } : {}),
    ...(facets.length > 0 ? { facets } : {}),
    ...(embed === null ? {} : { embed }),
    ...(values?.length ? { labels: { $type: "com.atproto.label.defs#selfLabels", values } } : {}),
  };
}

/** Returns a handle that can't be resolved stays plain text, as in the network's own app. */
async function resolveMentions(
  stretches: readonly Stretch[],
  { credentials, tools }: Leg,
): Promise<ReadonlyMap<string, string>> {
  const handles = new Set(
    stretches.flatMap((stretch) => (stretch.kind === "mention" ? [stretch.handle] : [])),
  );
  const resolved = await Promise.all(
    [...handles].slice(0, MENTIONS_MAX).map(async (handle) => {
      const did = await resolveHandle(handle, tools, credentials.pds);
      return typeof did === "string" ? ([[handle, did]] as const) : [];
    }),
  );
  return new Map(resolved.flat());
}

type EmbedStep = VideoStep | { readonly kind: "made"; readonly embed: Embed | null };

async function makeEmbed(leg: Leg, stretches: readonly Stretch[]): Promise<EmbedStep> {
  const { draft, remote, tools } = leg;
  if (remote.video !== undefined) return followVideo(remote.video, tools);
  if (draft.media.length > 0) {
    const files = await uploadMedia(leg, { isAgain: remote.reuploadedAt !== undefined });
    if ("failure" in files) return files;
    if (!("file" in files)) return { kind: "made", embed: imagesEmbed(files) };
    const video = await bringVideo(leg, files);
    return video === "still" ? stillEmbed(leg) : video;
  }
  const { linkCard } = ownOptionsOf(draft);
  if (linkCard === false) return { kind: "made", embed: null };
  if (linkCard !== undefined) {
    const card = await givenCard(linkCard, leg);
    return isFailed(card) ? card : { kind: "made", embed: card };
  }
  const link = stretches.find((stretch) => stretch.kind === "link");
  return { kind: "made", embed: link === undefined ? null : await foundCard(link.uri, leg) };
}

/** Embeds an animated image as its first frame, with a warning for the leg. */
async function stillEmbed(leg: Leg): Promise<EmbedStep> {
  const files = await uploadMedia(leg, { isStill: true });
  if ("failure" in files) return files;
  return { kind: "made", embed: "file" in files ? null : imagesEmbed(files) };
}

function isFailed(made: Embed | TryLater | Rejected): made is TryLater | Rejected {
  return "failure" in made;
}

/** Returns the picture of a card that was given is part of the post: without it the leg is not published. */
async function givenCard(card: LinkCard, leg: Leg): Promise<Embed | TryLater | Rejected> {
  const { url, title, description = "", thumbnailUrl } = card;
  if (thumbnailUrl === undefined) return cardEmbed({ url, title, description }, null);
  const thumb = await withFile("bluesky", undefined, () => uploadThumbnail(thumbnailUrl, leg));
  return "failure" in thumb ? thumb : cardEmbed({ url, title, description }, thumb);
}

/** Returns the card of a page. If the page can't be read, the post is published without it. */
async function foundCard(url: string, leg: Leg): Promise<Embed | null> {
  const card = await fetchPageCard(url, leg.tools);
  if (card === undefined) return null;
  const { title, description, imageUrl } = card;
  const text = { url, title, description };
  if (imageUrl === null) return cardEmbed(text, null);
  try {
    const thumb = await uploadThumbnail(imageUrl, leg);
    return cardEmbed(text, "failure" in thumb ? null : thumb);
  } catch (error) {
    if (error instanceof MediaFailure || error instanceof HttpFailure) return cardEmbed(text, null);
    throw error;
  }
}

async function uploadThumbnail(url: string, leg: Leg): Promise<Blob | TryLater | Rejected> {
  const file = await leg.tools.openMedia(url, { bytesMax: IMAGE_SOURCE_BYTES_MAX });
  return uploadBlob(await leg.tools.fitImage(file, thumbnail(leg.limits)), leg);
}
