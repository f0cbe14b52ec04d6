import * as z from "zod";
import { worker, type Worker } from "../shared/http/worker.ts";
import { firePost } from "../shared/posts/fire-post.ts";
import { FIRE_QUEUE, FireHint } from "../shared/posts/fire-queue.ts";
import { PUBLISH_QUEUE, PublishHint } from "../shared/posts/publish-queue.ts";
import { publishLegs } from "../shared/posts/publish-legs.ts";

/** Work that no worker could do five times. The rows still tell what is open, so that nothing is lost with it. */
const poison = (queue: string) =>
  worker(`${queue}-poison`, `${queue}-poison`, {
    message: z.unknown(),
    run: async (services, message) => services.log.error("poison message", { queue, message }),
  });

export const workers: readonly Worker[] = [
  worker("publish-legs", PUBLISH_QUEUE, { message: PublishHint, run: publishLegs }),
  worker("fire-posts", FIRE_QUEUE, { message: FireHint, run: firePost }),
  poison(PUBLISH_QUEUE),
  poison(FIRE_QUEUE),
];
