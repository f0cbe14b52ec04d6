import * as z from "zod";
import { shape } from "../../runtime/shape.ts";
import { exchange, idShape } from "../contract/answers.ts";
import { comment as written, hasWords } from "../contract/comment.ts";
import { scopesLacked, spare } from "../contract/fields.ts";
import type { FollowUp, FollowUpCall } from "../contract/network.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { NOT_FOUND } from "../graph/errors.ts";
import { graphGet, graphPostJson, timeOf } from "../graph/request.ts";
import { classify } from "./errors.ts";
import { isNoStory } from "./remove.ts";
import { COMMENTS } from "./settings.ts";
import { credentialsOf, pageAccess } from "./state.ts";
import { pageUrl } from "./video-status.ts";

const commentShape = shape(() => z.object({ id: idShape(), permalink_url: spare(z.string()) }));
const listedShape = shape(() =>
  commentShape().extend({
    message: z.string().catch(""),
    created_time: z.string(),
    from: spare(z.object({ id: idShape() })),
  }),
);

/** https://developers.facebook.com/docs/pages-api/comments-mentions. The post is the feed's or the video, never a photo. */
export const comment: FollowUpCall = {
  ...written({
    send(call, tools) {
      const query = { fields: "id,permalink_url" };
      const request = graphPostJson(
        accessOf(call, tools),
        edgeOf(call),
        { message: call.text },
        query,
      );
      return exchange(tools, request);
    },
    read(answer) {
      const { data } = commentShape().safeParse(answer.json());
      return answer.status === 200 && data !== undefined ? doneBy(data) : undefined;
    },
    classify: (answer, _call, tools) => classify(answer, tools.now()),
    isNoPost: ({ networkCode }) => networkCode === NOT_FOUND,
    list(call, tools) {
      // The usual list of a post is ranked, and may leave a comment out.
      const query = {
        filter: "stream",
        order: "reverse_chronological",
        limit: "50",
        fields: "id,message,created_time,from{id},permalink_url",
      };
      return exchange(tools, graphGet(accessOf(call, tools), edgeOf(call), query));
    },
    listedIn: "data",
    own(entry, call, sinceMs) {
      const { data } = listedShape().safeParse(entry);
      const { pageId } = credentialsOf(call.leg.credentials);
      if (data?.from?.id !== pageId || timeOf(data.created_time) < sinceMs) return undefined;
      return hasWords(data.message, call) ? doneBy(data) : undefined;
    },
  }),
  isSupported: isNoStory,
  missingScopes: (scopes) => scopesLacked([COMMENTS], scopes),
};

function doneBy({ id, permalink_url }: z.output<ReturnType<typeof commentShape>>) {
  return { kind: "done", externalId: id, url: pageUrl(permalink_url) } as const;
}

function edgeOf({ leg }: FollowUp): string {
  return `${encodeURIComponent(leg.externalId)}/comments`;
}

function accessOf({ leg }: FollowUp, tools: NetworkTools) {
  return pageAccess(credentialsOf(leg.credentials), tools);
}
