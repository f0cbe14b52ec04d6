import * as z from "zod";
import { shape } from "../../runtime/shape.ts";
import { exchange, idShape } from "../contract/answers.ts";
import { comment as written, hasWords } from "../contract/comment.ts";
import { scopesLacked, spare } from "../contract/fields.ts";
import type { FollowUp, FollowUpCall } from "../contract/network.ts";
import { restPost, restRequest, SITE } from "./request.ts";
import { classifyFor, kindOfScopes } from "./session.ts";
import { COMMENT_SCOPES } from "./settings.ts";
import { credentialsOf } from "./state.ts";

const NOT_FOUND = 404;
const THROTTLED = 429;

const commentShape = shape(() =>
  z.object({ id: spare(idShape()), commentUrn: spare(z.string().startsWith("urn:li:comment:")) }),
);
const listedShape = shape(() =>
  commentShape().extend({
    actor: z.string(),
    message: z.object({ text: z.string() }),
    created: z.object({ time: z.number() }),
  }),
);

/** https://learn.microsoft.com/linkedin/marketing/community-management/shares/comments-api. The text is plain, and not escaped. */
export const comment: FollowUpCall = {
  ...written({
    send(call, tools) {
      const credentials = credentialsOf(call.leg.credentials);
      const { externalId: object } = call.leg;
      const body = { actor: credentials.author, object, message: { text: call.text } };
      return exchange(tools, restPost(pathOf(call), body, credentials, tools));
    },
    read(answer, call) {
      if (answer.status !== 201) return undefined;
      const said = commentShape().safeParse(answer.json()).data ?? {};
      return doneBy({ id: answer.headers["x-restli-id"], ...said }, call);
    },
    async classify(answer, { leg }, tools) {
      const classified = await classifyFor(answer, credentialsOf(leg.credentials), tools);
      // A post that is not there has no comments, and a throttled call is turned away in front of them.
      const isProof = answer.status === NOT_FOUND || answer.status === THROTTLED;
      const networkCode =
        answer.status === NOT_FOUND ? `HTTP ${NOT_FOUND}` : classified.networkCode;
      return { ...classified, networkCode, ...(isProof && { isProof }) };
    },
    isNoPost: ({ networkCode }) => networkCode === `HTTP ${NOT_FOUND}`,
    list(call, tools) {
      const credentials = credentialsOf(call.leg.credentials);
      return exchange(tools, restRequest(`${pathOf(call)}?start=0&count=50`, credentials, tools));
    },
    listedIn: "elements",
    own(entry, call, sinceMs) {
      const { data } = listedShape().safeParse(entry);
      const { author } = credentialsOf(call.leg.credentials);
      if (data?.actor !== author || data.created.time < sinceMs) return undefined;
      return hasWords(data.message.text, call) ? doneBy(data, call) : undefined;
    },
    /** A member's can't be listed, since `r_member_social` is closed to new apps. */
    canTell: ({ leg }) => credentialsOf(leg.credentials).kind === "organization",
  }),
  missingScopes: (scopes) => scopesLacked([COMMENT_SCOPES[kindOfScopes(scopes)][0]], scopes),
};

type Said = z.output<ReturnType<typeof commentShape>>;

/** Returns what is done, with the address that the site itself shows; no document names it. */
function doneBy({ id, commentUrn }: Said, { leg }: FollowUp) {
  const url =
    commentUrn === undefined
      ? null
      : `${SITE}/feed/update/${leg.externalId}/?commentUrn=${encodeURIComponent(commentUrn)}`;
  return { kind: "done", externalId: commentUrn ?? id ?? null, url } as const;
}

function pathOf({ leg }: FollowUp): string {
  return `socialActions/${encodeURIComponent(leg.externalId)}/comments`;
}
