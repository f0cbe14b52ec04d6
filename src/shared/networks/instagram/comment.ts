import * as z from "zod";
import { shape } from "../../runtime/shape.ts";
import { exchange, idShape, readId } from "../contract/answers.ts";
import { comment as written, hasWords } from "../contract/comment.ts";
import { scopesLacked, spare } from "../contract/fields.ts";
import type { FollowUp, FollowUpCall } from "../contract/network.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { NOT_FOUND } from "../graph/errors.ts";
import { graphGet, graphPostForm, timeOf } from "../graph/request.ts";
import { classify } from "./errors.ts";
import { isStory } from "./rules.ts";
import { COMMENTS } from "./settings.ts";
import { accessOf, credentialsOf, remoteOf } from "./state.ts";

const listedShape = shape(() =>
  z.object({
    id: idShape(),
    text: z.string().catch(""),
    timestamp: z.string(),
    username: spare(z.string()),
    /** Only where the comment is the asking account's. */
    user: spare(z.object({ id: idShape() })),
  }),
);

/** https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-media/comments */
export const comment: FollowUpCall = {
  ...written({
    send(call, tools) {
      const fields = { message: call.text ?? "" };
      return exchange(tools, graphPostForm(access(call, tools), edgeOf(call), fields));
    },
    read(answer) {
      const id = answer.status === 200 ? readId(answer) : undefined;
      return id === undefined ? undefined : doneBy(id);
    },
    classify: (answer, _call, tools) => classify(answer, tools.now()),
    isNoPost: ({ networkCode }) => networkCode === NOT_FOUND,
    list(call, tools) {
      const query = { fields: "id,text,timestamp,username,user", limit: "50" };
      return exchange(tools, graphGet(access(call, tools), edgeOf(call), query));
    },
    listedIn: "data",
    own(entry, call, sinceMs) {
      const { data } = listedShape().safeParse(entry);
      const isOwn = data?.user !== undefined || data?.username === call.leg.account.username;
      if (data === undefined || !isOwn || timeOf(data.timestamp) < sinceMs) return undefined;
      return hasWords(data.text, call) ? doneBy(data.id) : undefined;
    },
  }),
  isSupported: ({ remote }) => !isStory(remoteOf(remote).form),
  missingScopes: (scopes) => scopesLacked([COMMENTS], scopes),
};

/** Returns what is done. No field of a comment is its address. */
function doneBy(id: string) {
  return { kind: "done", externalId: id, url: null } as const;
}

function edgeOf({ leg }: FollowUp): string {
  return `${encodeURIComponent(leg.externalId)}/comments`;
}

function access({ leg }: FollowUp, tools: NetworkTools) {
  return accessOf(credentialsOf(leg.credentials), tools);
}
