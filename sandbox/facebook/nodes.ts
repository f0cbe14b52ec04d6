import { linkCard } from "../links.ts";
import type { GraphNode } from "../graph/fields.ts";
import { graphTime } from "../graph/fields.ts";
import { findPage } from "./state.ts";
import type { FacebookState, Page, Photo, Post, User, Video } from "./state.ts";

function picture(id: string): Record<string, unknown> {
  const url = `https://graph.facebook.com/v26.0/${id}/picture`;
  return { data: { height: 50, is_silhouette: true, url, width: 50 } };
}

export function pageNode(page: Page, seen: { token?: string; userId?: string } = {}): GraphNode {
  const { id, name, username } = page;
  return {
    type: "Page",
    values: {
      id,
      name,
      username,
      link: `https://www.facebook.com/${username}`,
      category: "Bakery",
      picture: picture(id),
      access_token: seen.token,
      tasks: seen.userId === undefined ? undefined : page.tasks[seen.userId],
      instagram_business_account: undefined,
    },
  };
}

export function userNode(user: User, accounts: readonly GraphNode[]): GraphNode {
  const { id, name } = user;
  const values = { id, name, picture: picture(id), accounts: { data: accounts } };
  return { type: "User", values };
}

/** The address that Facebook gives a post. */
export function permalink(state: FacebookState, post: Post): string {
  const number = post.id.split("_")[1] ?? post.id;
  switch (post.form) {
    case "reel":
      return `https://www.facebook.com/reel/${post.videoId ?? number}/`;
    case "video":
      return `https://www.facebook.com/${post.pageId}/videos/${post.videoId ?? number}/`;
    case "story":
      return `https://www.facebook.com/stories/${post.pageId}/${number}/`;
    case "post":
      return `https://www.facebook.com/${findPage(state, post.pageId)?.id ?? post.pageId}/posts/${number}/`;
  }
}

function photoAttachment(photo: Photo): GraphNode {
  const url = `https://www.facebook.com/photo.php?fbid=${photo.id}`;
  const { width, height } = photo;
  return {
    type: "StoryAttachment",
    values: {
      media_type: "photo",
      type: "photo",
      description: undefined,
      title: undefined,
      url,
      unshimmed_url: undefined,
      target: { id: photo.id, url },
      media: { image: { height, width, src: `https://scontent.xx.fbcdn.net/${photo.sha256}.jpg` } },
      subattachments: undefined,
    },
  };
}

function otherAttachment(
  mediaType: string,
  target: Record<string, string>,
  more: Readonly<Record<string, unknown>> = {},
): GraphNode {
  return {
    type: "StoryAttachment",
    values: {
      media_type: mediaType,
      type: mediaType === "link" ? "share" : mediaType,
      description: undefined,
      title: undefined,
      url: target["url"],
      unshimmed_url: target["url"],
      target,
      media: undefined,
      subattachments: undefined,
      ...more,
    },
  };
}

function attachments(state: FacebookState, post: Post): unknown {
  const photos = post.photoIds.flatMap((id) => state.photos.get(id) ?? []);
  const url = permalink(state, post);
  if (post.videoId !== null) return { data: [otherAttachment("video", { id: post.videoId, url })] };
  if (photos.length > 1) {
    const subattachments = { data: photos.map(photoAttachment) };
    const album = { id: post.id.split("_")[1] ?? post.id, url };
    return { data: [otherAttachment("album", album, { subattachments })] };
  }
  const [photo] = photos;
  if (photo !== undefined) return { data: [photoAttachment(photo)] };
  if (post.link === null) return undefined;
  const card = linkCard(post.link);
  const about = { title: card?.title, description: card?.description };
  return { data: [otherAttachment("link", { url: post.link }, about)] };
}

export function postNode(state: FacebookState, post: Post): GraphNode {
  const page = findPage(state, post.pageId);
  return {
    type: "Post",
    values: {
      id: post.id,
      message: post.message ?? undefined,
      created_time: graphTime(post.createdAt),
      updated_time: graphTime(post.createdAt),
      permalink_url: permalink(state, post),
      is_published: post.isPublished,
      status_type: post.photoIds.length > 0 ? "added_photos" : "mobile_status_update",
      from: { id: post.pageId, name: page?.name },
      full_picture: undefined,
      attachments: attachments(state, post),
    },
  };
}

export function photoNode(photo: Photo): GraphNode {
  const { id, caption, alt, width, height, createdAt, postId } = photo;
  return {
    type: "Photo",
    values: {
      id,
      name: caption ?? undefined,
      alt_text_custom: alt ?? undefined,
      created_time: graphTime(createdAt),
      link: `https://www.facebook.com/photo.php?fbid=${id}`,
      width,
      height,
      page_story_id: postId ?? undefined,
    },
  };
}

type Phase = Record<string, unknown>;

function phases(video: Video): { status: string; uploading: Phase; processing: Phase } {
  const arrived = { bytes_transfered: video.received?.bytes ?? 0 };
  const error = video.problem === null ? {} : { error: { message: video.problem.message } };
  const complete = { status: "complete", ...arrived };
  if (video.problem?.phase === "uploading")
    return {
      status: "upload_failed",
      uploading: { status: "error", ...arrived, ...error },
      processing: { status: "not_started" },
    };
  if (!video.isUploaded || video.uploadPollsLeft > 0)
    return {
      status: "uploading",
      uploading: {
        status: video.received === null ? "not_started" : "in_progress",
        ...arrived,
      },
      processing: { status: "not_started" },
    };
  if (video.postId === null)
    return {
      status: "upload_complete",
      uploading: complete,
      processing: { status: "not_started" },
    };
  if (video.processingPollsLeft > 0)
    return { status: "processing", uploading: complete, processing: { status: "in_progress" } };
  if (video.problem !== null)
    return { status: "error", uploading: complete, processing: { status: "error", ...error } };
  return { status: "ready", uploading: complete, processing: { status: "complete" } };
}

export function isShown(video: Video): boolean {
  return video.postId !== null && video.processingPollsLeft === 0 && video.problem === null;
}

export function videoNode(state: FacebookState, video: Video): GraphNode {
  const { status, uploading, processing } = phases(video);
  const post = state.posts.get(video.postId ?? "");
  const publishing = isShown(video)
    ? {
        status: "complete",
        publish_status: "published",
        publish_time: Math.floor((post?.createdAt ?? video.createdAt) / 1000),
      }
    : { status: "not_started" };
  return {
    type: "Video",
    values: {
      id: video.id,
      title: video.title ?? undefined,
      description: video.description ?? undefined,
      created_time: graphTime(video.createdAt),
      length: video.facts?.seconds,
      published: isShown(video),
      post_id: video.postId ?? undefined,
      permalink_url: post === undefined ? undefined : new URL(permalink(state, post)).pathname,
      status: {
        video_status: status,
        uploading_phase: uploading,
        processing_phase: processing,
        publishing_phase: publishing,
      },
    },
  };
}
