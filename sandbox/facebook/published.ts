import { shownComments } from "../follow-ups.ts";
import { linkedSegments } from "../graph/segments.ts";
import { linkCard } from "../links.ts";
import type { PublishedMedia, PublishedPost } from "../network.ts";
import { isShown, permalink } from "./nodes.ts";
import { findPage } from "./state.ts";
import type { FacebookState, Post } from "./state.ts";

function mediaOf(state: FacebookState, post: Post): PublishedMedia[] {
  const photos = post.photoIds.flatMap((id): PublishedMedia[] => {
    const photo = state.photos.get(id);
    if (photo === undefined) return [];
    const { sha256, bytes, alt, type } = photo;
    const mimeType = `image/${type === "jpg" ? "jpeg" : type}`;
    return [{ kind: "image", path: `/_sandbox/blobs/${sha256}`, mimeType, bytes, sha256, alt }];
  });
  const video = state.videos.get(post.videoId ?? "");
  if (video?.received == null) return photos;
  const { sha256, bytes } = video.received;
  const title = video.title === null ? {} : { title: video.title };
  const path = `/_sandbox/blobs/${sha256}`;
  const about = { alt: null, isDescribable: false, ...title };
  return [{ kind: "video", path, mimeType: "video/mp4", bytes, sha256, ...about }];
}

function cardOf(post: Post): PublishedPost["card"] {
  const isPlain = post.photoIds.length === 0 && post.videoId === null;
  const card = linkCard(isPlain ? (post.link ?? firstAddress(post.message)) : undefined);
  if (card === undefined) return null;
  const { url, title, description, imagePath } = card;
  return { url, title, description, imagePath };
}

function firstAddress(text: string | null): string | undefined {
  return /https?:\/\/[^\s<>"]+[^\s<>".,;:!?)]/i.exec(text ?? "")?.[0];
}

function publishedPost(state: FacebookState, post: Post): PublishedPost {
  const page = findPage(state, post.pageId);
  const createdAt = new Date(post.createdAt).toISOString();
  const text = post.message ?? "";
  return {
    network: "facebook",
    host: "www.facebook.com",
    account: {
      id: post.pageId,
      username: `@${page?.username ?? post.pageId}`,
      displayName: page?.name ?? post.pageId,
    },
    id: post.id,
    url: permalink(state, post),
    page: `/facebook/${post.id}`,
    ...(post.form === "reel" || post.form === "story" ? { form: post.form } : {}),
    text,
    segments: linkedSegments(text, (tag) => `https://www.facebook.com/hashtag/${tag}`),
    contentWarning: null,
    visibility: "public",
    languages: [],
    media: mediaOf(state, post),
    card: cardOf(post),
    createdAt,
    publishedAt: createdAt,
    idempotencyKey: null,
    comments: shownComments(state, post.id, (id) => findPage(state, id)?.name ?? id),
    edits: 0,
  };
}

/** What visitors see: no drafts, and no video that Facebook is still working on or gave up. */
export function publishedPosts(state: FacebookState): PublishedPost[] {
  return [...state.posts.values()]
    .filter(({ isPublished, videoId }) => {
      const video = state.videos.get(videoId ?? "");
      return isPublished && (video === undefined || isShown(video));
    })
    .map((post) => publishedPost(state, post));
}
