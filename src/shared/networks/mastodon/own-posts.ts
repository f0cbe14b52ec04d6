import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { exchange, idShape } from "../contract/answers.ts";
import { inForm } from "../contract/ask.ts";
import { lenientList, objectShape, lenient } from "../contract/fields.ts";
import { outageOf, type Done, type TryLater } from "../contract/outcome.ts";
import { composed, textOfHtml } from "../contract/text.ts";
import { HttpFailure, type HttpResponse } from "../../runtime/http-call.ts";
import { classify } from "./errors.ts";
import { ownOptionsOf } from "./options.ts";
import { breach, fieldOfRule } from "../contract/rules.ts";
import { rules } from "./rules.ts";
import { type Baseline, apiGet, type Leg } from "./state.ts";

const PAGE_LENGTH = 20;
const PAGES_MAX = 3;
/** Maximum number of an account's posts that are noted before a call. No server makes more in `STEP_MS`. */
const NOTED_MAX = 40;
/** How far a server's clock may be set back between two posts. */
const STEP_MS = 60_000;

const statusShape = objectShape(() => ({
  id: idShape(),
  url: lenient(z.string()),
  uri: lenient(z.string()),
}));
const listShape = shape(() =>
  z.array(
    statusShape().extend({
      created_at: z.string(),
      content: lenient(z.string()),
      spoiler_text: lenient(z.string()),
      visibility: lenient(z.string()),
      reblog: z.unknown().optional(),
      media_attachments: lenient(
        lenientList(z.object({ id: idShape(), url: lenient(z.string()) })),
        [],
      ),
    }),
  ),
);
type Status = ShapeOf<typeof listShape>[number];

const madeShape = shape(() =>
  statusShape().extend({
    visibility: lenient(z.string()),
    media_attachments: lenient(z.array(z.unknown())),
  }),
);

/**
 * Reads the post in an answer to `POST /api/v1/statuses`, and how it differs from what was sent. Undefined when the
 * answer names none.
 */
export function readStatus(
  answer: HttpResponse,
  { draft, remote }: Pick<Leg, "draft" | "remote">,
): Done | undefined {
  const { data: made } = madeShape().safeParse(answer.json());
  if (answer.status < 200 || answer.status >= 300 || made === undefined) return undefined;
  const { visibility: asked } = ownOptionsOf(draft);
  const { visibility, media_attachments: shown } = made;
  const isBare = shown !== undefined && shown.length < remote.media.length;
  const isOther = asked !== undefined && visibility !== undefined && visibility !== asked;
  const broken = [
    ...(isBare ? (["mastodon.media.missing"] as const) : []),
    ...(isOther ? (["mastodon.visibility.changed"] as const) : []),
  ];
  const differences = broken.map((rule) =>
    breach(rules, rule, { field: fieldOfRule(rules, rule, draft) }),
  );
  return { ...publishedOf(made), ...(differences.length === 0 ? {} : { differences }) };
}

export function publishedOf(status: ShapeOf<typeof statusShape>): Done {
  const url = [status.url, status.uri].find((address) => address?.startsWith("http"));
  return { kind: "done", externalId: status.id, url: url ?? null };
}

/** The account's own posts, newest first. `isComplete`: all that the list has of the requested time. */
export interface OwnPosts {
  readonly statuses: readonly Status[];
  readonly isComplete: boolean;
}

/** Why the posts can't be listed: not now, or not at all. */
export type NoList = TryLater | { readonly kind: "unreadable" };

/** Lists the account's own posts, at least those since a time by the server's clock, if three pages hold them. */
export async function listOwnPosts(leg: Leg, sinceMs: number): Promise<OwnPosts | NoList> {
  const statuses: Status[] = [];
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const read = readList(await requestList(leg, statuses.at(-1)?.id), leg.tools.now());
    if ("kind" in read) return read;
    statuses.push(...read);
    const last = read.at(-1);
    const isBeyond = last === undefined || Date.parse(last.created_at) < sinceMs;
    if (isBeyond || read.length < PAGE_LENGTH) return { statuses, isComplete: true };
  }
  return { statuses, isComplete: false };
}

/**
 * Requests the account's posts with the token, or without it if the token lacks `read:statuses`, because public posts
 * can be read by anybody.
 */
async function requestList(
  { account, credentials: own, tools }: Leg,
  olderThan: string | undefined,
): Promise<HttpResponse | HttpFailure> {
  const localId = account.id.slice(account.id.indexOf("/") + 1);
  const query = new URLSearchParams({
    limit: String(PAGE_LENGTH),
    exclude_reblogs: "true",
    ...(olderThan === undefined ? {} : { max_id: olderThan }),
  });
  const path = `accounts/${encodeURIComponent(localId)}/statuses?${query.toString()}`;
  const ask = (accessToken: string | null) => {
    const { headers, ...request } = apiGet({ origin: own.origin, accessToken }, path);
    // Mastodon lets caches keep the public list, for a day while the server fails (`cache_if_unauthenticated!` in
    // app/controllers/api/v1/accounts/statuses_controller.rb).
    return exchange(tools, { ...request, headers: { ...headers, "cache-control": "no-cache" } });
  };
  const answer = await ask(own.accessToken);
  const isRefused =
    !(answer instanceof HttpFailure) && (answer.status === 401 || answer.status === 403);
  return isRefused ? ask(null) : answer;
}

function readList(answer: HttpResponse | HttpFailure, now: Date): Status[] | NoList {
  if (answer instanceof HttpFailure) return outageOf(answer);
  const statuses = inForm(listShape)(answer);
  if (statuses !== undefined) return statuses;
  if ([401, 403, 404, 410].includes(answer.status)) return { kind: "unreadable" };
  return outageOf(classify(answer, now));
}

/** Makes a marker that separates the posts listed now from later ones. */
export function baselineOf({ statuses }: OwnPosts): Baseline {
  const times = statuses.map(({ created_at }) => Date.parse(created_at)).filter((ms) => ms > 0);
  return {
    newestAt: times.length === 0 ? null : new Date(Math.max(...times)).toISOString(),
    ids: statuses.slice(0, NOTED_MAX).map(({ id }) => id),
  };
}

/** Returns the time, by the server's own clock, from which posts after a baseline are listed. */
export function timeOf({ newestAt }: Baseline): number {
  return newestAt === null ? Number.NEGATIVE_INFINITY : Date.parse(newestAt) - STEP_MS;
}

export function isNewerThan(baseline: Baseline, { id, created_at, reblog }: Status): boolean {
  if (reblog !== undefined && reblog !== null) return false;
  return !baseline.ids.includes(id) && !(Date.parse(created_at) < timeOf(baseline));
}

/** Reports whether a post has one of the leg's files. Only with ids from the server does a file have one post. */
export function hasOurFile({ media_attachments: attachments }: Status, leg: Leg): boolean {
  const ids = new Set(leg.remote.media.map((item) => item.id));
  return attachments.some((attachment) => ids.has(attachment.id));
}

/** Reports whether a post has exactly the leg's files. */
export function hasOurFiles({ media_attachments: found }: Status, leg: Leg): boolean {
  const { media } = leg.remote;
  return (
    media.length === found.length &&
    media.every(({ id, url }) =>
      // Some servers give a file another id once it is part of a post, but its address stays.
      found.some((attachment) => attachment.id === id || (url && attachment.url === url)),
    )
  );
}

/** Reports whether a post has the leg's text and content warning. */
export function hasOurWords(status: Status, leg: Leg): boolean {
  const { spoilerText = "" } = ownOptionsOf(leg.draft);
  // Together, because a content warning without a text becomes the text.
  const words = (status.spoiler_text ?? "") + textOfHtml(status.content ?? "");
  return comparable(words) === comparable(spoilerText + leg.draft.text);
}

/** The part of Markdown that servers which render it remove from the text. */
const MARKDOWN_LINK = /\[([^[\]\n]{1,500})\]\([^()\s]{1,2000}\)/g;
const MARKDOWN_SIGNS = /[*_~`#>\\-]/g;

/**
 * Returns a text in the form in which texts are compared. Servers wrap lines in paragraphs, fold spaces, show mentions
 * without their domain and render Markdown.
 */
export function comparable(text: string): string {
  return composed(text)
    .replace(MARKDOWN_LINK, "$1")
    .replace(/(@[\w.-]+)@[\p{L}\p{N}.-]*[\p{L}\p{N}]/gu, "$1")
    .replace(MARKDOWN_SIGNS, "")
    .replace(/\s+/g, "");
}
