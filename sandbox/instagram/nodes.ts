import type { GraphNode } from "../graph/fields.ts";
import { graphTime } from "../graph/fields.ts";
import { containerState, statusText } from "./container-state.ts";
import { findAccount } from "./state.ts";
import type { Account, Container, InstagramShared, InstagramState, Media } from "./state.ts";

export function accountNode(account: Account, mediaCount: number): GraphNode {
  const { userId, scopedId, username, name, type } = account;
  return {
    type: "IGUser",
    values: {
      id: scopedId,
      user_id: userId,
      username,
      name,
      account_type: type,
      profile_picture_url: `https://scontent.cdninstagram.com/${userId}.jpg`,
      followers_count: 0,
      follows_count: 0,
      media_count: mediaCount,
    },
  };
}

export function containerNode(shared: InstagramShared, container: Container): GraphNode {
  const state = containerState(shared, container);
  return {
    type: "IGContainer",
    values: { id: container.id, status_code: state, status: statusText(state, container) },
  };
}

const PRODUCT: Readonly<Record<Container["mediaType"], string>> = {
  IMAGE: "FEED",
  VIDEO: "FEED",
  CAROUSEL: "FEED",
  REELS: "REELS",
  STORIES: "STORY",
};

function mediaType(container: Container): string {
  if (container.mediaType === "CAROUSEL") return "CAROUSEL_ALBUM";
  return container.file?.kind === "video" ? "VIDEO" : "IMAGE";
}

/** The address that Instagram gives a post. */
export function permalink(state: InstagramState, media: Media): string {
  const container = state.containers.get(media.containerId);
  if (container?.mediaType === "STORIES") {
    const username = findAccount(state, media.userId)?.username ?? "unknown";
    return `https://www.instagram.com/stories/${username}/${media.id}/`;
  }
  const kind = container?.mediaType === "REELS" ? "reel" : "p";
  return `https://www.instagram.com/${kind}/${media.shortcode}/`;
}

export function mediaNode(state: InstagramState, media: Media, container: Container): GraphNode {
  const account = findAccount(state, media.userId);
  const children = container.children.flatMap((id) => {
    const child = state.containers.get(id);
    return child === undefined ? [] : [{ id, media_type: mediaType(child) }];
  });
  return {
    type: "IGMedia",
    values: {
      id: media.id,
      caption: container.caption ?? undefined,
      alt_text: container.alt ?? undefined,
      media_type: mediaType(container),
      media_product_type: PRODUCT[container.mediaType],
      media_url:
        container.file === null
          ? undefined
          : `https://scontent.cdninstagram.com/${container.file.sha256}`,
      permalink: permalink(state, media),
      shortcode: media.shortcode,
      timestamp: graphTime(media.publishedAt),
      username: account?.username,
      owner: { id: media.userId },
      children: children.length === 0 ? undefined : { data: children },
      like_count: 0,
      comments_count: 0,
    },
  };
}
