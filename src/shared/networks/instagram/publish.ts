import * as z from "zod";
import { exchange } from "../contract/answers.ts";
import { notAccepted, startOver, unconfirmed, type PublishOutcome } from "../contract/outcome.ts";
import { graphGet, graphPostForm } from "../graph/request.ts";
import { type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import type { LegToPublish } from "../contract/network.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { readCreated, withoutStories } from "./container.ts";
import { classify } from "./errors.ts";
import { findOwnMedia } from "./reconcile.ts";
import { restarted, withoutContainers } from "./prepare.ts";
import { accessOf, credentialsOf, remoteOf } from "./state.ts";

const NOT_READY_SECONDS = 10;
const RESTART_SECONDS = 5;

/** Publishes the container. A second call for it changes nothing. */
export async function publish(leg: LegToPublish, tools: NetworkTools): Promise<PublishOutcome> {
  const { container } = remoteOf(leg.remote);
  if (container === undefined) throw new Error("the leg was not prepared");
  if (container.isPublished === true) return findOwnMedia(leg, tools);
  const credentials = credentialsOf(leg.credentials);
  const answer = await exchange(
    tools,
    graphPostForm(accessOf(credentials, tools), `${credentials.userId}/media_publish`, {
      creation_id: container.id,
    }),
  );
  if (answer instanceof HttpFailure) return unconfirmed(answer);
  const id = readCreated(answer);
  if (id === undefined) return refused(leg, answer, tools);
  return { kind: "published", networkPostId: id, url: await readPermalink(leg, id, tools) };
}

/** Returns the post's address; null if it can't be read. The post is published either way. */
async function readPermalink(
  leg: LegToPublish,
  id: string,
  tools: NetworkTools,
): Promise<string | null> {
  const access = accessOf(credentialsOf(leg.credentials), tools);
  const query = { fields: "permalink,shortcode,timestamp" };
  const answer = await exchange(tools, graphGet(access, encodeURIComponent(id), query));
  if (answer instanceof HttpFailure || answer.status !== 200) return null;
  return z.object({ permalink: z.url() }).safeParse(answer.json()).data?.permalink ?? null;
}

function refused(leg: LegToPublish, answer: HttpResponse, tools: NetworkTools): PublishOutcome {
  const remote = remoteOf(leg.remote);
  const outcome = notAccepted(answer, classify(answer, tools.now()), (classified) =>
    classified.code === "media_not_ready"
      ? startOver(classified, remote, { pollAfterSeconds: NOT_READY_SECONDS })
      : startOver(classified, restarted(withoutContainers(remote), tools.now()), {
          pollAfterSeconds: RESTART_SECONDS,
        }),
  );
  const isRefused = outcome.kind === "rejected" || outcome.kind === "try_later";
  return isRefused ? withoutStories(outcome, remote) : outcome;
}
