import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { exchange } from "../contract/classified.ts";
import type { Lookup } from "../contract/doubt.ts";
import { textOfHtml } from "../contract/html-text.ts";
import type { HttpRequest, HttpResponse } from "../../runtime/http-call.ts";
import type { LegToPublish, NetworkTools, Published } from "../contract/network.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { composed } from "../contract/normal-form.ts";
import { classify } from "./errors.ts";
import { ownOptionsOf } from "./options.ts";
import type { Credentials } from "./state.ts";
import { credentialsOf, remoteOf, requestHeaders } from "./state.ts";

const PAGE_LENGTH = 20;
const PAGES_MAX = 3;
/** Clocks differ: a post may seem a little older than the call that made it. */
const CLOCK_SKEW_MS = 60_000;

const identity = shape(() => ({
  id: z.coerce.string().min(1),
  url: z.string().nullish(),
  uri: z.string().nullish(),
}));
const statusShape = shape(() => z.object(identity()));
const listShape = shape(() =>
  z.array(
    z.object({
      ...identity(),
      created_at: z.string(),
      content: z.string().nullish(),
      spoiler_text: z.string().nullish(),
      media_attachments: z.array(z.object({ id: z.coerce.string() })).catch([]),
    }),
  ),
);
type Status = ShapeOf<typeof listShape>[number];

export function readStatus(answer: HttpResponse): Published | undefined {
  const parsed = statusShape().safeParse(answer.json());
  return answer.status >= 200 && answer.status < 300 && parsed.success
    ? publishedOf(parsed.data)
    : undefined;
}

function publishedOf(status: ShapeOf<typeof statusShape>): Published {
  const url = [status.url, status.uri].find((address) => address?.startsWith("http"));
  return { kind: "published", networkPostId: status.id, url: url ?? null };
}

/**
 * Looks for the leg's post among the account's own: by its files, which belong to one post only, else by its words
 * and the time.
 */
export async function findOwnPost(leg: LegToPublish, tools: NetworkTools): Promise<Lookup> {
  const credentials = credentialsOf(leg.credentials);
  const sentAt = leg.sentAt ?? tools.now();
  const since = sentAt.getTime() - CLOCK_SKEW_MS;
  let olderThan: string | null = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const answer = await listStatuses(leg, { credentials, olderThan }, tools);
    const statuses = readList(answer, tools.now());
    if (!("length" in statuses)) return statuses;
    const found = statuses.find((status) => isOurs(status, leg, since));
    if (found !== undefined) return { kind: "found", published: publishedOf(found) };
    const last = statuses.at(-1);
    const isBeyond = last === undefined || Date.parse(last.created_at) < since;
    if (isBeyond || statuses.length < PAGE_LENGTH) return { kind: "absent", isComplete: true };
    olderThan = last.id;
  }
  return { kind: "absent", isComplete: false };
}

/** Without `read:statuses` the token itself is refused, where a stranger may read what is public. */
async function listStatuses(
  leg: LegToPublish,
  page: { readonly credentials: Credentials; readonly olderThan: string | null },
  tools: NetworkTools,
): Promise<HttpResponse | HttpFailure> {
  const localId = leg.account.id.slice(leg.account.id.indexOf("/") + 1);
  const query = new URLSearchParams({
    limit: String(PAGE_LENGTH),
    exclude_reblogs: "true",
    ...(page.olderThan === null ? {} : { max_id: page.olderThan }),
  });
  const path = `/api/v1/accounts/${encodeURIComponent(localId)}/statuses?${query.toString()}`;
  const request = (credentials: Credentials | null): HttpRequest => ({
    method: "GET",
    url: `${page.credentials.origin}${path}`,
    headers: requestHeaders(credentials),
  });
  const answer = await exchange(tools, request(page.credentials));
  if (answer instanceof HttpFailure || (answer.status !== 401 && answer.status !== 403)) {
    return answer;
  }
  return exchange(tools, request(null));
}

function readList(answer: HttpResponse | HttpFailure, now: Date): readonly Status[] | Lookup {
  if (answer instanceof HttpFailure) {
    return { kind: "unavailable", note: answer.message, retryAfterSeconds: null };
  }
  const parsed = listShape().safeParse(answer.json());
  if (answer.status === 200 && parsed.success) return parsed.data;
  if ([401, 403, 404, 410].includes(answer.status)) return { kind: "unreadable" };
  const { note, networkCode, retryAfterSeconds } = classify(answer, now);
  return { kind: "unavailable", note: note || (networkCode ?? ""), retryAfterSeconds };
}

function isOurs(status: Status, leg: LegToPublish, since: number): boolean {
  const ids = new Set(remoteOf(leg.remote).media.map((item) => item.id));
  if (ids.size > 0) return status.media_attachments.some((attachment) => ids.has(attachment.id));
  const { spoilerText = "" } = ownOptionsOf(leg.draft.options);
  // Together, because a content warning without a text becomes the text.
  const words = (status.spoiler_text ?? "") + textOfHtml(status.content ?? "");
  return (
    Date.parse(status.created_at) >= since &&
    comparable(words) === comparable(spoilerText + leg.draft.text)
  );
}

/** A server wraps lines in paragraphs, folds spaces and shows mentions without their domain. */
export function comparable(text: string): string {
  return composed(text)
    .replace(/(@[\w.-]+)@[\p{L}\p{N}.-]*[\p{L}\p{N}]/gu, "$1")
    .replace(/\s+/g, "");
}
