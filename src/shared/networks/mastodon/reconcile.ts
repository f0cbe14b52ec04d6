import { exchange } from "../contract/answers.ts";
import {
  unanswered,
  askAgain,
  outcomeUnknown,
  type ReconcileOutcome,
  type Lookup,
  type Published,
  unavailable,
} from "../contract/outcome.ts";
import type { LegToPublish } from "../contract/network.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { HttpFailure, type HttpRequest, type HttpResponse } from "../../runtime/http-call.ts";
import { ownOptionsOf } from "./options.ts";
import { getMedia, readMedia } from "./prepare.ts";
import { credentialsOf, remoteOf, type Credentials, requestHeaders } from "./state.ts";
import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { textOfHtml, composed } from "../contract/text.ts";
import { classify } from "./errors.ts";

/** A key is remembered for an hour; the rest is for the call itself and for clocks that differ. */
const KEY_LIFE_MS = 50 * 60_000;
const ASK_AGAIN_SECONDS = 30;
/** What the first attempt set off is done by then, whatever became of its answer. */
const SETTLED_MS = 30_000;

/**
 * Looks at the account's own posts first: some servers do not know idempotency keys. What is not there may be sent
 * again while the key is remembered; later only files tell a repeat from a second post.
 */
export async function reconcile(leg: LegToPublish, tools: NetworkTools): Promise<ReconcileOutcome> {
  if (leg.sentAt === null) return { kind: "may_publish", isAbsent: true };
  const lookup = await findOwnPost(leg, tools);
  const isMissing = lookup.kind === "absent" && lookup.isComplete;
  const isProven = isMissing && isListed(leg) && isOver(leg, tools);
  switch (lookup.kind) {
    case "found":
      return lookup.published;
    case "unavailable":
      return askAgain(lookup.note, lookup.retryAfterSeconds);
    default:
      // Without a key to tell them apart, a repeat must not run beside the first attempt.
      if (!keepsKeys(leg) && !isOver(leg, tools))
        return askAgain("an attempt may still be under way");
      // Only a list that was read tells a server without keys from one that has the post already.
      if (isKeyAlive(leg, tools) && (keepsKeys(leg) || isMissing))
        return { kind: "may_publish", isAbsent: isProven };
      return reconcileLate(leg, isProven, tools);
  }
}

async function reconcileLate(
  leg: LegToPublish,
  isAbsent: boolean,
  tools: NetworkTools,
): Promise<ReconcileOutcome> {
  const [first] = remoteOf(leg.remote).media;
  const failure = outcomeUnknown("the network can't tell any more whether the post was made");
  if (isAbsent) return { kind: "may_publish", isAbsent };
  if (first === undefined) return { kind: "unknowable", failure };
  // A file that is still free is in no post, and this leg's post would have it.
  const answer = await exchange(tools, getMedia(credentialsOf(leg.credentials), first.id));
  if (!(answer instanceof HttpFailure) && answer.status === 404) {
    return { kind: "unknowable", failure };
  }
  const state = answer instanceof HttpFailure ? unanswered(answer) : readMedia(answer, tools.now());
  if (typeof state === "string" || state.kind === "failed")
    return { kind: "may_publish", isAbsent: true };
  return state.kind === "rejected"
    ? { kind: "unknowable", failure }
    : { kind: "ask_again", failure: state.failure, pollAfterSeconds: ASK_AGAIN_SECONDS };
}

function keepsKeys(leg: LegToPublish): boolean {
  return credentialsOf(leg.credentials).keepsKeys;
}

/** Tells whether every earlier call has ended. Only then is the absence of the post a proof. */
function isOver(leg: LegToPublish, tools: NetworkTools): boolean {
  return leg.sentAt === null || tools.now().getTime() - leg.sentAt.getTime() >= SETTLED_MS;
}

/** Tells whether the server still knows the first attempt by its key. */
export function isKeyAlive(leg: LegToPublish, tools: NetworkTools): boolean {
  return leg.sentAt === null || tools.now().getTime() - leg.sentAt.getTime() < KEY_LIFE_MS;
}

/** Tells whether everyone may see the post. A post without a visibility has the account's. */
export function isListed(leg: LegToPublish): boolean {
  const { defaultVisibility } = credentialsOf(leg.credentials);
  const { visibility = defaultVisibility } = ownOptionsOf(leg.draft.options);
  return visibility === "public" || visibility === "unlisted";
}

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

/**
 * Requests the account's posts with the token, and without it if the token lacks `read:statuses`: public posts can be
 * read by anybody.
 */
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
  if (answer instanceof HttpFailure) return unavailable(answer);
  const parsed = listShape().safeParse(answer.json());
  if (answer.status === 200 && parsed.success) return parsed.data;
  if ([401, 403, 404, 410].includes(answer.status)) return { kind: "unreadable" };
  return unavailable(classify(answer, now));
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

/**
 * Returns a text in the form in which texts are compared. Servers wrap lines in paragraphs, fold spaces and show
 * mentions without their domain.
 */
export function comparable(text: string): string {
  return composed(text)
    .replace(/(@[\w.-]+)@[\p{L}\p{N}.-]*[\p{L}\p{N}]/gu, "$1")
    .replace(/\s+/g, "");
}
