import { refusedFile } from "../contract/media-check.ts";
import { withFile, withPicture } from "../contract/ask.ts";
import { IMAGE_SOURCE_BYTES_MAX, MediaFailure } from "../contract/media.ts";
import { mayStartOver, type PrepareOutcome, type Rejection } from "../contract/outcome.ts";
import type { TryLater } from "../contract/outcome.ts";
import { overHttps } from "../contract/web-address.ts";
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
import { type Facet, facetsOf, findStretches } from "./facets.ts";
import { resolveHandle } from "./identity.ts";
import { fetchPageCard } from "./link-card.ts";
import { type LinkCard, ownOptionsOf } from "./options.ts";
import { type rules, thumbnail } from "./rules.ts";
import { shownText } from "./short-links.ts";
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
  return { ...outcome, remote: { ...rest, rkey, createdAt, record: { ...record, createdAt } } };
}

type PreparedRecord =
  | { readonly kind: "ready"; readonly remote: Remote; readonly warnings?: readonly Warning[] }
  | Exclude<PrepareOutcome, { kind: "ready" }>;

async function prepareRecord(leg: Leg): Promise<PreparedRecord> {
  const { remote, tools } = leg;
  if (remote.record !== undefined) return { kind: "ready", remote };
  const { text, stretches } = shownText(leg.draft.text);
  const step = await makeEmbed(leg);
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
  // A handle that can't be resolved stays plain text, as in the network's own app.
  const handles = new Set(
    stretches.flatMap((stretch) => (stretch.kind === "mention" ? [stretch.handle] : [])),
  );
  const resolved = await Promise.all(
    [...handles].slice(0, MENTIONS_MAX).map(async (handle) => {
      const did = await resolveHandle(handle, leg.tools, leg.credentials.pds);
      return typeof did === "string" ? ([[handle, did]] as const) : [];
    }),
  );
  const didByHandle = new Map(resolved.flat());
  const isUnknown = stretches.some(
    (stretch) => stretch.kind === "mention" && !didByHandle.has(stretch.handle),
  );
  const shown = { text, facets: facetsOf(text, stretches, didByHandle) };
  const warnings: readonly Warning[] = [
    ...("warnings" in step ? step.warnings : []),
    ...(isUnknown ? (["bluesky.text.mention"] as const) : []),
  ];
  return {
    kind: "ready",
    remote: {
      ...remote,
      record: postRecord(leg, shown, step.embed),
      ...("hasFoundPicture" in step && step.hasFoundPicture && { foundPicture: "sent" as const }),
    },
    ...(warnings.length > 0 ? { warnings } : {}),
  };
}

interface ShownText {
  readonly text: string;
  readonly facets: readonly Facet[];
}

function postRecord(
  { draft, remote }: Leg,
  { text, facets }: ShownText,
  embed: Embed | null,
): Record<string, unknown> {
  const { langs, labels } = ownOptionsOf(draft);
  const values = labels?.map((val) => ({ val }));
  return {
    $type: COLLECTION,
    text,
    createdAt: remote.createdAt,
    ...(langs?.length ? { langs } : {}),
    ...(facets.length > 0 ? { facets } : {}),
    ...(embed === null ? {} : { embed }),
    ...(values?.length ? { labels: { $type: "com.atproto.label.defs#selfLabels", values } } : {}),
  };
}

/** Rules about what only preparing shows. */
type Warning = keyof typeof rules;

interface MadeEmbed {
  readonly kind: "made";
  readonly embed: Embed | null;
  readonly warnings: readonly Warning[];
  /** Whether the embed shows a picture that nobody gave, but that a link's page has. */
  readonly hasFoundPicture?: boolean;
}

type EmbedStep = VideoStep | MadeEmbed;

const made = (embed: Embed | null, ...warnings: readonly Warning[]): MadeEmbed => ({
  kind: "made",
  embed,
  warnings,
});

async function makeEmbed(leg: Leg): Promise<EmbedStep> {
  const { draft, remote, tools } = leg;
  if (remote.video !== undefined) return followVideo(remote.video, tools);
  if (draft.media.length > 0) {
    const files = await uploadMedia(leg, { isAgain: remote.reuploadedAt !== undefined });
    if ("failure" in files) return files;
    if (!("file" in files)) return made(imagesEmbed(files));
    const video = await withFile("bluesky", 0, () => bringVideo(leg, files));
    return video === "still" ? stillEmbed(leg) : video;
  }
  const { linkCard } = ownOptionsOf(draft);
  if (linkCard === false) return made(null);
  if (linkCard !== undefined) {
    const card = await givenCard(linkCard, leg);
    return isFailed(card) ? card : made(card);
  }
  return foundCard(linksOf(leg.draft.text), leg);
}

/** Embeds an animated image as its first frame, with a warning for the leg. */
async function stillEmbed(leg: Leg): Promise<EmbedStep> {
  const files = await uploadMedia(leg, { isStill: true });
  if ("failure" in files) return files;
  return made("file" in files ? null : imagesEmbed(files));
}

function isFailed(made: Embed | TryLater | Rejection): made is TryLater | Rejection {
  return "failure" in made;
}

/** Returns the picture of a card that was given is part of the post: without it the leg is not published. */
async function givenCard(card: LinkCard, leg: Leg): Promise<Embed | TryLater | Rejection> {
  const { url, title, description = "", thumbnailUrl } = card;
  if (thumbnailUrl === undefined) return cardEmbed({ url, title, description }, null);
  const thumb = await withPicture("bluesky", "linkCard.thumbnailUrl", () =>
    uploadThumbnail(thumbnailUrl, leg),
  );
  return "failure" in thumb ? thumb : cardEmbed({ url, title, description }, thumb);
}

/** How many links are asked for a card, and for how long: each of them may be slow. */
const LINKS_MAX = 4;
const LINKS_MS = 16_000;

/** Returns the addresses of a text's links, those with a scheme first: `README.md` may only look like one. */
function linksOf(text: string): readonly string[] {
  const links = findStretches(text).filter((stretch) => stretch.kind === "link");
  const isWritten = ({ uri, start, end }: (typeof links)[number]) => uri === text.slice(start, end);
  const ordered = [...links.filter(isWritten), ...links.filter((link) => !isWritten(link))];
  return [...new Set(ordered.map(({ uri }) => uri))];
}

/** Makes the card of the first link that has one. Without any, the post is published without a card. */
async function foundCard(links: readonly string[], leg: Leg): Promise<MadeEmbed> {
  const { tools } = leg;
  const until = tools.now().getTime() + LINKS_MS;
  for (const url of links.slice(0, LINKS_MAX)) {
    const card = await fetchPageCard(url, tools);
    if (card !== undefined) {
      const { title, description, imageUrls } = card;
      const isRefused = leg.remote.foundPicture === "left_out";
      const thumb = isRefused ? null : await firstThumbnail(imageUrls, leg);
      const isLost = thumb === null && imageUrls.length > 0;
      const embed = cardEmbed({ url, title, description }, thumb);
      const warnings = isLost ? (["bluesky.linkCard.picture"] as const) : [];
      return { ...made(embed, ...warnings), hasFoundPicture: thumb !== null };
    }
    if (tools.now().getTime() >= until) break;
  }
  return made(null, ...(links.length > 0 ? (["bluesky.linkCard.unread"] as const) : []));
}

/** Uploads the first of a page's pictures that can be used. */
async function firstThumbnail(urls: readonly string[], leg: Leg): Promise<Blob | null> {
  for (const url of urls) {
    try {
      const thumb = await uploadThumbnail(overHttps(url), leg);
      if (!("failure" in thumb)) return thumb;
    } catch (error) {
      if (!(error instanceof MediaFailure || error instanceof HttpFailure)) throw error;
    }
  }
  return null;
}

async function uploadThumbnail(url: string, leg: Leg): Promise<Blob | TryLater | Rejection> {
  const file = await leg.tools.openMedia(url, { bytesMax: IMAGE_SOURCE_BYTES_MAX });
  const image = thumbnail(leg.limits);
  const refused = refusedFile("bluesky", file, { image });
  return refused ?? uploadBlob(await leg.tools.fitImage(file, image), leg);
}
