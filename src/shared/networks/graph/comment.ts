import * as z from "zod";
import type { HttpRequest, HttpResponse } from "../../runtime/http-call.ts";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { type ClassifiedAnswer, exchange, idShape } from "../contract/answers.ts";
import { inForm } from "../contract/ask.ts";
import { comment, hasWords } from "../contract/comment.ts";
import { objectShape, lenient } from "../contract/fields.ts";
import type { OwnFollowUp } from "../contract/state.ts";
import { isMissing } from "./errors.ts";
import { type GraphAccess, graphRead, pageUrl, timeOf } from "./request.ts";

const commentShape = objectShape(() => ({ id: idShape(), permalink_url: lenient(z.string()) }));
/** The first names are Facebook's, the others Instagram's. */
const listedShape = shape(() =>
  commentShape().extend({
    message: lenient(z.string()),
    created_time: lenient(z.string()),
    from: lenient(z.object({ id: idShape() })),
    text: lenient(z.string()),
    timestamp: lenient(z.string()),
    username: lenient(z.string()),
    /** Only present when the comment is the requesting account's. */
    user: lenient(z.object({ id: idShape() })),
  }),
);

/** The differences between the two networks. */
interface GraphComment<Call> {
  readonly accessOf: (call: Call) => GraphAccess;
  readonly request: (access: GraphAccess, path: string, message: string) => HttpRequest;
  readonly query: Readonly<Record<string, string>>;
  /** Reports whether a listed comment is the account's. */
  readonly isOwn: (listed: ShapeOf<typeof listedShape>, call: Call) => boolean;
  readonly classify: (answer: HttpResponse, now: Date) => ClassifiedAnswer;
}

/** Makes the steps of a first comment below a post of the Graph API. */
export function graphComment<Credentials, Remote>(
  own: GraphComment<OwnFollowUp<Credentials, Remote>>,
) {
  const pathOf = ({ externalId }: { readonly externalId: string }) =>
    `${encodeURIComponent(externalId)}/comments`;
  return comment<Credentials, Remote>({
    send(call) {
      const request = own.request(own.accessOf(call), pathOf(call), call.text ?? "");
      return exchange(call.tools, request);
    },
    read(answer) {
      const said = inForm(commentShape)(answer);
      return said && doneBy(said);
    },
    classify: (answer, { tools }) => own.classify(answer, tools.now()),
    isNoPost: isMissing,
    list: (call) => graphRead(own.accessOf(call), pathOf(call), { ...own.query, limit: "50" }),
    listedIn: "data",
    own(entry, call, sinceMs) {
      const { data } = listedShape().safeParse(entry);
      if (data === undefined || !own.isOwn(data, call)) return undefined;
      const { created_time, timestamp = "", message, text = "" } = data;
      const isNew = timeOf(created_time ?? timestamp) >= sinceMs;
      return isNew && hasWords(message ?? text, call) ? doneBy(data) : undefined;
    },
  });
}

/** Returns the result. An Instagram comment has no field with its address. */
function doneBy({ id, permalink_url }: ShapeOf<typeof commentShape>) {
  return { kind: "done", externalId: id, url: pageUrl(permalink_url) } as const;
}
