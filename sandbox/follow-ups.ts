import { keep } from "./kept-maps.ts";
import type { PublishedComment, PublishedPost } from "./network.ts";

/** A comment as a network stores it. */
export interface StoredComment {
  readonly id: string;
  readonly postId: string;
  readonly authorId: string;
  readonly text: string;
  readonly createdAt: number;
}

/** What follows a published post; part of a network's state. */
export interface FollowUps {
  /** By id, oldest first. */
  comments: Map<string, StoredComment>;
  /** By post id: as readers last saw it. */
  removed: Map<string, PublishedPost>;
}

export function noFollowUps(): FollowUps {
  return { comments: new Map(), removed: new Map() };
}

/** Keeps what readers see of a post that is about to be removed. */
export function noteRemoval(state: FollowUps, post: PublishedPost | undefined, now: number): void {
  if (post === undefined) return;
  keep(state.removed, post.id, { ...post, removedAt: new Date(now).toISOString() });
}

/** Returns the comments of a post, oldest first. */
export function commentsOf({ comments }: FollowUps, postId: string): StoredComment[] {
  return [...comments.values()].filter((comment) => comment.postId === postId);
}

/** Returns the comments of a post as its readers see them. */
export function shownComments(
  state: FollowUps,
  postId: string,
  nameOf: (authorId: string) => string,
): PublishedComment[] {
  return commentsOf(state, postId).map(({ id, authorId, text, createdAt }) => ({
    id,
    author: nameOf(authorId),
    text,
    createdAt: new Date(createdAt).toISOString(),
  }));
}

const OWN = /\[remove:([a-z0-9_:-]{1,60})\]/g;

/** Returns the magic words of a post's text that are for its removal: `[remove:drop-answer]`. */
export function removalWords(text: string): { text: string; key: string } {
  return { text: [...text.matchAll(OWN)].map(([, word]) => `[${word}]`).join(" "), key: text };
}

/** Posts that are not shown yet to the comments that name them, by post and text: how often they were tried. */
export class NotThereYet {
  readonly #tries = new Map<string, number>();

  /** Returns whether this attempt comes before the network shows the post; `attempts`: so many do. */
  hides(postId: string, text: string, attempts = 0): boolean {
    const key = `${postId}\n${text}`;
    const tries = (this.#tries.get(key) ?? 0) + 1;
    keep(this.#tries, key, tries);
    return tries <= attempts;
  }
}
