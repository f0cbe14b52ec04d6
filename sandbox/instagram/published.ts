import { shownComments } from "../follow-ups.ts";
import { linkedSegments } from "../graph/segments.ts";
import type { PublishedMedia, PublishedPost } from "../network.ts";
import { permalink } from "./nodes.ts";
import { findAccount } from "./state.ts";
import type { Container, InstagramState, Media } from "./state.ts";

function mediaOf(state: InstagramState, container: Container): PublishedMedia[] {
  const shown =
    container.mediaType === "CAROUSEL"
      ? container.children.flatMap((id) => state.containers.get(id) ?? [])
      : [container];
  return shown.flatMap(({ file, alt, cover }): PublishedMedia[] => {
    if (file === null) return [];
    const { kind, mimeType, sha256, bytes } = file;
    const path = `/_sandbox/blobs/${sha256}`;
    const posterPath = cover ? `/_sandbox/blobs/${cover.sha256}` : undefined;
    const about = { alt, isDescribable: kind === "image" };
    return [{ kind, path, mimeType, bytes, sha256, ...about, ...(posterPath && { posterPath }) }];
  });
}

function formOf({ mediaType }: Container): Pick<PublishedPost, "form"> {
  switch (mediaType) {
    case "CAROUSEL":
      return { form: "carousel" };
    case "REELS":
      return { form: "reel" };
    case "STORIES":
      return { form: "story" };
    default:
      return {};
  }
}

function publishedPost(state: InstagramState, media: Media, container: Container): PublishedPost {
  const account = findAccount(state, media.userId);
  const createdAt = new Date(media.publishedAt).toISOString();
  const text = container.caption ?? "";
  // Captions have hashtags, and no addresses that can be clicked.
  const segments = linkedSegments(text, (tag) => `https://www.instagram.com/explore/tags/${tag}/`);
  return {
    network: "instagram",
    host: "www.instagram.com",
    account: {
      id: media.userId,
      username: `@${account?.username ?? "unknown"}`,
      displayName: account?.name ?? "unknown",
    },
    id: media.id,
    url: permalink(state, media),
    page: `/instagram/${media.id}`,
    ...formOf(container),
    remarks: container.remarks ?? [],
    text,
    segments: segments.map((segment) =>
      /^https?:/i.test(segment.text) ? { text: segment.text } : segment,
    ),
    contentWarning: null,
    visibility: "public",
    languages: [],
    media: mediaOf(state, container),
    card: null,
    createdAt,
    publishedAt: createdAt,
    idempotencyKey: null,
    comments: shownComments(state, media.id, (id) => findAccount(state, id)?.username ?? id),
    edits: 0,
  };
}

export function publishedPosts(state: InstagramState): PublishedPost[] {
  return [...state.media.values()].flatMap((media) => {
    const container = state.containers.get(media.containerId);
    return container === undefined ? [] : [publishedPost(state, media, container)];
  });
}
