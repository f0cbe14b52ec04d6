import { enqueueDue, hintIfSoon as hintWorkIfSoon, type DueWork } from "../../due/enqueue-due.ts";
import type { PublishingDeps } from "../deps.ts";
import type { DuePost } from "./due-post.ts";
import type { PostRef } from "../post.ts";

function duePosts({ due, startQueue }: PublishingDeps): DueWork<PostRef> {
  return { store: due, hint: (post, delaySeconds) => startQueue.hint(post, delaySeconds) };
}

/** For a post that is stored or moved so close to its time that the timer might look too late. */
export function hintIfSoon(services: PublishingDeps, due: DuePost): Promise<void> {
  return hintWorkIfSoon(services, duePosts(services), due);
}

/** Sends a hint for every post that is due soon or was missed. Safe when missed, doubled or late. */
export function enqueueDuePosts(services: PublishingDeps): Promise<void> {
  return enqueueDue(services, duePosts(services));
}
