import * as z from "zod";
import { exchange, readMade } from "../contract/answers.ts";
import { tryRead } from "../contract/ask.ts";
import { objectShape } from "../contract/fields.ts";
import { notAccepted, startOver, unconfirmed, type Outcome } from "../contract/outcome.ts";
import { graphGet, graphPostForm } from "../graph/request.ts";
import { type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import { withoutStories } from "./container.ts";
import { classify } from "./errors.ts";
import { findOwnMedia } from "./find.ts";
import { restarted } from "./prepare.ts";
import { accessOf, type Leg } from "./state.ts";

const NOT_READY_SECONDS = 10;
const RESTART_SECONDS = 5;

/** Publishes the container. A second call for it changes nothing. */
export async function perform(leg: Leg): Promise<Outcome> {
  const { container } = leg.remote;
  if (container === undefined) throw new Error("the leg was not prepared");
  if (container.isPublished === true) return findOwnMedia(leg);
  const path = `${leg.credentials.userId}/media_publish`;
  const request = graphPostForm(accessOf(leg), path, { creation_id: container.id });
  const answer = await exchange(leg.tools, request);
  if (answer instanceof HttpFailure) return unconfirmed(answer);
  const id = readMade(answer);
  if (id === undefined) return refused(leg, answer);
  return { kind: "done", externalId: id, url: await readPermalink(leg, id) };
}

const permalinkShape = objectShape(() => ({ permalink: z.url() }));

/** Returns the post's address, or null if it can't be read. The post is published either way. */
async function readPermalink(leg: Leg, id: string): Promise<string | null> {
  const query = { fields: "permalink,shortcode,timestamp" };
  const request = graphGet(accessOf(leg), encodeURIComponent(id), query);
  return (await tryRead(request, permalinkShape, leg.tools))?.permalink ?? null;
}

function refused({ remote, tools }: Leg, answer: HttpResponse): Outcome {
  const now = tools.now();
  const outcome = notAccepted(answer, classify(answer, now), (classified) =>
    classified.code === "media_not_ready"
      ? startOver(classified, remote, { pollAfterSeconds: NOT_READY_SECONDS })
      : startOver(classified, restarted(remote, [], now), {
          pollAfterSeconds: RESTART_SECONDS,
        }),
  );
  const isRefused = outcome.kind === "rejected" || outcome.kind === "try_later";
  return isRefused ? withoutStories(outcome, remote) : outcome;
}
