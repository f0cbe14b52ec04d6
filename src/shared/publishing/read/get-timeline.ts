import type { ProfileScope } from "../../callers/scope.ts";
import type { PublishingDeps } from "../deps.ts";
import { findPostOf } from "./get-post.ts";
import type { PostWithLegs } from "../post-store.ts";
import { step, type TimelineStep } from "../timeline-store.ts";

/** What the post's own row tells. */
function milestones({ post, legs }: PostWithLegs): TimelineStep[] {
  const { createdAt, startedAt, completedAt, draft, status } = post;
  const steps = [step(createdAt, "accepted", null)];
  if (draft.scheduleAt !== null)
    steps.push(step(createdAt, "scheduled", `for ${draft.scheduleAt}`));
  if (draft.scheduleAt !== null && startedAt !== null) steps.push(step(startedAt, "fired", null));
  const reserved = legs.filter(
    ({ reservation }) => reservation.operation === "publish_leg" && reservation.tokens > 0,
  );
  const tokens = reserved.reduce((sum, { reservation }) => sum + reservation.tokens, 0);
  if (startedAt !== null && tokens > 0) steps.push(step(startedAt, "reserved", `${tokens} tokens`));
  if (completedAt !== null)
    steps.push(
      status === "canceled"
        ? step(completedAt, "canceled", null)
        : { ...step(completedAt, "completed", null), outcome: status },
    );
  return steps;
}

/** What happened to a post, in order. @throws AppError `not_found` */
export async function getTimeline(
  services: PublishingDeps,
  scope: ProfileScope,
  postId: string,
): Promise<TimelineStep[]> {
  const found = await findPostOf(services, scope, postId);
  const worked = await services.timeline.list(postId);
  return [...milestones(found), ...worked].sort((left, right) =>
    left.at < right.at ? -1 : left.at > right.at ? 1 : 0,
  );
}
