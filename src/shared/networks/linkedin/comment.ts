import * as z from "zod";
import { shape } from "../../runtime/shape.ts";
import { exchange, idShape } from "../contract/answers.ts";
import { comment as written, hasWords } from "../contract/comment.ts";
import { objectShape, scopesLacked, lenient } from "../contract/fields.ts";
import type { FollowUpCall } from "../contract/visible-call.ts";
import { restPost, restRequest, SITE } from "./request.ts";
import { classifyFor, kindOfScopes } from "./session.ts";
import { COMMENT_SCOPES } from "./settings.ts";
import { type Call, steps } from "./state.ts";

const NOT_FOUND = 404;
const THROTTLED = 429;

const commentShape = objectShape(() => ({
  id: lenient(idShape()),
  commentUrn: lenient(z.string().startsWith("urn:li:comment:")),
}));
const listedShape = shape(() =>
  commentShape().extend({
    actor: z.string(),
    message: z.object({ text: z.string() }),
    created: z.object({ time: z.number() }),
  }),
);

/** https://learn.microsoft.com/linkedin/marketing/community-management/shares/comments-api. The text is plain, and not escaped. */
const own = written({
  send(call: Call) {
    const { credentials, externalId: object, text } = call;
    const body = { actor: credentials.author, object, message: { text } };
    return exchange(call.tools, restPost(pathOf(call), body, call));
  },
  read(answer, call) {
    if (answer.status !== 201) return undefined;
    const said = commentShape().safeParse(answer.json()).data ?? {};
    return doneBy({ id: answer.headers["x-restli-id"], ...said }, call);
  },
  async classify(answer, call) {
    const classified = await classifyFor(answer, call);
    // A missing post has no comments, and a throttled call is refused before it reaches them.
    const isProof = answer.status === NOT_FOUND || answer.status === THROTTLED;
    const networkCode = answer.status === NOT_FOUND ? `HTTP ${NOT_FOUND}` : classified.networkCode;
    return { ...classified, networkCode, ...(isProof && { isProof }) };
  },
  isNoPost: ({ networkCode }) => networkCode === `HTTP ${NOT_FOUND}`,
  list: (call) => exchange(call.tools, restRequest(`${pathOf(call)}?start=0&count=50`, call)),
  listedIn: "elements",
  own(entry, call, sinceMs) {
    const { data } = listedShape().safeParse(entry);
    const { author } = call.credentials;
    if (data?.actor !== author || data.created.time < sinceMs) return undefined;
    return hasWords(data.message.text, call) ? doneBy(data, call) : undefined;
  },
  /** A member's comments can't be listed, because `r_member_social` is closed to new apps. */
  canTell: ({ credentials }) => credentials.kind === "organization",
});

export const comment: FollowUpCall = {
  ...steps.following(own),
  missingScopes: (scopes) => scopesLacked([COMMENT_SCOPES[kindOfScopes(scopes)][0]], scopes),
};

type CommentAnswer = z.output<ReturnType<typeof commentShape>>;

/** Returns the result, with the address that the site itself shows. No document names it. */
function doneBy({ id, commentUrn }: CommentAnswer, { externalId }: Call) {
  const url =
    commentUrn === undefined
      ? null
      : `${SITE}/feed/update/${externalId}/?commentUrn=${encodeURIComponent(commentUrn)}`;
  return { kind: "done", externalId: commentUrn ?? id ?? null, url } as const;
}

function pathOf({ externalId }: Call): string {
  return `socialActions/${encodeURIComponent(externalId)}/comments`;
}
