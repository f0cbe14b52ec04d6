import { shownComments } from "../follow-ups.ts";
import type { PublishedMedia, PublishedPost } from "../network.ts";
import { parseLittleText } from "./little-text.ts";
import type { FindMention } from "./little-text.ts";
import { findOrganization, fullName, personUrn } from "./state.ts";
import type { LinkedInState, Post } from "./state.ts";

/** A mention is one when the name is exactly the organization's, or the member's first, last or full name. */
function mentionFinder(state: LinkedInState): FindMention {
  return (name, urn) => {
    const organization = findOrganization(state, urn);
    if (organization !== undefined)
      return organization.name === name
        ? `https://www.linkedin.com/company/${organization.vanityName}`
        : undefined;
    const member = state.members.find(({ id }) => personUrn(id) === urn);
    if (member === undefined) return undefined;
    const names = [member.givenName, member.familyName, fullName(member)];
    return names.includes(name) ? `https://www.linkedin.com/in/${member.id}` : undefined;
  };
}

export function authorOf(state: LinkedInState, urn: string): PublishedPost["account"] {
  const organization = findOrganization(state, urn);
  if (organization !== undefined)
    return {
      id: urn,
      username: `company/${organization.vanityName}`,
      displayName: organization.name,
    };
  const member = state.members.find(({ id }) => personUrn(id) === urn);
  return {
    id: urn,
    username: member === undefined ? urn : `in/${member.id}`,
    displayName: member === undefined ? urn : fullName(member),
  };
}

function mediaOf(state: LinkedInState, post: Post): PublishedMedia[] {
  return post.media.flatMap(({ urn, alt, title }): PublishedMedia[] => {
    const asset = state.assets.get(urn);
    if (asset?.file == null) return [];
    const { sha256, bytes, mimeType } = asset.file;
    const path = `/_sandbox/blobs/${sha256}`;
    const named = title === null ? {} : { title };
    const about = { alt, isDescribable: asset.kind === "image", ...named };
    return [{ kind: asset.kind, path, mimeType, bytes, sha256, ...about }];
  });
}

function cardOf(state: LinkedInState, { article }: Post): PublishedPost["card"] {
  if (article === null) return null;
  const { source, title, description, thumbnail } = article;
  const file = state.assets.get(thumbnail ?? "")?.file;
  const imagePath = file == null ? null : `/_sandbox/blobs/${file.sha256}`;
  return { url: source, title, description, imagePath };
}

function publishedPost(state: LinkedInState, post: Post): PublishedPost {
  const { text, segments } = parseLittleText(post.commentary, mentionFinder(state));
  const createdAt = new Date(post.createdAt).toISOString();
  return {
    network: "linkedin",
    host: "www.linkedin.com",
    account: authorOf(state, post.author),
    id: post.urn,
    url: `https://www.linkedin.com/feed/update/${post.urn}/`,
    page: `/linkedin/${post.urn}`,
    text,
    segments,
    truncated: post.isTruncated,
    contentWarning: null,
    visibility: post.visibility.toLowerCase(),
    languages: [],
    media: mediaOf(state, post),
    card: cardOf(state, post),
    createdAt,
    publishedAt: createdAt,
    idempotencyKey: null,
    comments: shownComments(state, post.urn, (urn) => authorOf(state, urn).displayName),
    edits: 0,
  };
}

export function publishedPosts(state: LinkedInState): PublishedPost[] {
  return [...state.posts.values()].map((post) => publishedPost(state, post));
}
